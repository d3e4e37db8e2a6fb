/* kgen_vec.h: vectors of KG_W lanes and what is computed on them, for the
 * pass that includes it. Every name resolves to that pass (kgen_names.h).
 *
 *   vf  KG_W floats            + - * / and comparisons are the operators;
 *   vi  KG_W int32             a comparison gives a vm; integers wrap around
 *   vu  KG_W uint32            (vi)v and (vu)v reinterpret
 *   vm  KG_W masks, 0 or -1    & | ^ ~; the same type as vi
 *
 * An f32 result has the same bits in every pass with fused multiply-add
 * (avx2, avx512, NEON); the SSE2 baseline rounds the product first. */

typedef float vf __attribute__((vector_size(KG_W * 4)));
typedef int32_t vi __attribute__((vector_size(KG_W * 4)));
typedef uint32_t vu __attribute__((vector_size(KG_W * 4)));
typedef double vd __attribute__((vector_size(KG_W * 4))); /* KG_W/2 lanes */
typedef int64_t vl __attribute__((vector_size(KG_W * 4)));
typedef uint64_t vq __attribute__((vector_size(KG_W * 4)));

KG_FN vf kg_splat(float x) {
	return x - (vf){0};
}

KG_FN vi kg_splati(int32_t x) {
	return x - (vi){0};
}

KG_FN vu kg_splatu(uint32_t x) {
	return x - (vu){0};
}

/* kg_iota is 0, 1, 2, ... */
KG_FN vi kg_iota(void) {
#if KG_W == 16
	return (vi){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif KG_W == 8
	return (vi){0, 1, 2, 3, 4, 5, 6, 7};
#else
	return (vi){0, 1, 2, 3};
#endif
}

/* kg_first is true in the lanes below n. */
KG_FN vm kg_first(int64_t n) {
	return kg_iota() < kg_splati(n > KG_W ? KG_W : (int32_t)n);
}

/* kg_i2f rounds to nearest even. */
KG_FN vf kg_i2f(vi x) {
	return __builtin_convertvector(x, vf);
}

/* kg_f2i truncates; NaN and what an int32 cannot hold give an unspecified value. */
KG_FN vi kg_f2i(vf x) {
	return __builtin_convertvector(x, vi);
}

/* The lane-wise primitives, loads and stores of the instruction set. */
#if KG_ISA == 2
#include "kgen_avx512.h"
#elif KG_ISA == 1
#include "kgen_avx2.h"
#elif KG_X86
#include "kgen_sse2.h"
#elif KG_NEON
#include "kgen_neon.h"
#else
#include "kgen_plain.h"
#endif

/* kg_to_int truncates, gives the ends of int32 for what lies beyond them and 0
 * for NaN, which C leaves undefined. */
KG_FN vi kg_to_int(vf x) {
	vi i = kg_selecti(x < 0x1p31f, kg_f2i(x), kg_splati(INT32_MAX));
	return kg_selecti(x == x, kg_selecti(x >= -0x1p31f, i, kg_splati(INT32_MIN)), kg_splati(0));
}

#include "kgen_mem.h"
#include "kgen_lane.h"
#include "kgen_math.h"
#include "kgen_pow.h"
#include "kgen_reduce.h"
#include "kgen_random.h"
#include "kgen_scalar.h"
