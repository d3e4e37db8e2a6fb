/* kgen_isa.h: compiles the file that includes it, named by KG_SELF, once for
 * each instruction set, and defines KG_DISPATCH. In a pass these are set:
 *
 *   KG_ISA     0 baseline (SSE2, NEON or plain C), 1 avx2+fma+f16c, 2 avx512
 *   KG_W       f32 lanes of a vector: 4, 8, 16
 *   KG_SUFFIX  what KG_NAME appends to a name
 *
 * Plain operators are never contracted into fused ones; kg_fma is explicit. */
#ifndef KG_SELF
#error "define KG_SELF as the name of the including file"
#endif

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* KG_PLAIN asks for what other machines get (the tests do). */
#if defined(__x86_64__) && !defined(KG_PLAIN)
#define KG_X86 1
#define KG_NEON 0
#include <immintrin.h>
#elif defined(__aarch64__) && !defined(KG_PLAIN)
#define KG_X86 0
#define KG_NEON 1
#include <arm_neon.h>
#else
#define KG_X86 0
#define KG_NEON 0
#endif

/* Whether kg_fma is fused in this pass. */
#define KG_FUSED (KG_ISA > 0 || KG_NEON)

#include "kgen_names.h"

#define KG_INLINE static inline __attribute__((always_inline, unused))
#define KG_FN KG_INLINE
#define KG_LIKELY(x) __builtin_expect(!!(x), 1)
#define KG_UNLIKELY(x) __builtin_expect(!!(x), 0)

typedef uint16_t kg_f16;  /* the bits of an IEEE half */
typedef uint16_t kg_bf16; /* the high half of the bits of a float */

#include "kgen_bytes.h"
#include "kgen_move.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"
#pragma clang diagnostic ignored "-Wpsabi"
#pragma clang fp contract(off)
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off", "no-math-errno", "no-trapping-math", "wrapv")
/* These passes find next to nothing in kernels that are written as vectors, and take a
 * fifth of the compilation. */
#pragma GCC optimize("no-tree-pre", "no-tree-vrp", "no-tree-vectorize", "no-gcse", "no-rerun-cse-after-loop", "no-code-hoisting", "no-crossjumping", "no-thread-jumps")
#endif

/* On x86 the baseline is for machines of before 2013: it compiles quickly rather
 * than runs fast, and calls what the others inline. */
#if KG_X86
#undef KG_FN
#define KG_FN static __attribute__((unused))
#ifndef __clang__
#pragma GCC push_options
#pragma GCC optimize("O1")
#endif
#endif
#define KG_ISA 0
#define KG_W 4
#define KG_SUFFIX _base
#ifndef KG_PASS_0
#define KG_PASS_0
#include "kgen_vec.h"
#include "kgen_gemm.h"
#include "kgen_put.h"
#endif
#include KG_SELF
#include "kgen_end.h"
#if KG_X86
#undef KG_FN
#define KG_FN KG_INLINE
#ifndef __clang__
#pragma GCC pop_options
#endif
#endif


#if KG_X86

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif
#define KG_ISA 1
#define KG_W 8
#define KG_SUFFIX _avx2
#ifndef KG_PASS_1
#define KG_PASS_1
#include "kgen_vec.h"
#include "kgen_gemm.h"
#include "kgen_put.h"
#endif
#include KG_SELF
#include "kgen_end.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#endif
#define KG_ISA 2
#define KG_W 16
#define KG_SUFFIX _avx512
#ifndef KG_PASS_2
#define KG_PASS_2
#include "kgen_vec.h"
#include "kgen_gemm.h"
#include "kgen_put.h"
#endif
#include KG_SELF
#include "kgen_end.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

/* KG_DISPATCH(name) defines the kernel name, which runs the pass that
 * call->isa asks for. */
#define KG_DISPATCH(name)                                                 \
	void name(const kg_call *call, int64_t lo, int64_t hi);           \
	void name(const kg_call *call, int64_t lo, int64_t hi) {          \
		switch (call->isa) {                                      \
		case 2: KG_PASTE(name, _avx512)(call, lo, hi); break;     \
		case 1: KG_PASTE(name, _avx2)(call, lo, hi); break;       \
		default: KG_PASTE(name, _base)(call, lo, hi);             \
		}                                                         \
	}

#else

#define KG_DISPATCH(name)                                                 \
	void name(const kg_call *call, int64_t lo, int64_t hi);           \
	void name(const kg_call *call, int64_t lo, int64_t hi) {          \
		KG_PASTE(name, _base)(call, lo, hi);                      \
	}

#endif

#if defined(__clang__)
#pragma clang diagnostic pop
#else
#pragma GCC pop_options
#pragma GCC diagnostic pop
#endif

#undef KG_SELF
