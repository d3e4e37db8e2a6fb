/* kgen.h: what a generated kernel and its caller agree on. */
#ifndef KGEN_H
#define KGEN_H

#include <stdint.h>

/* A device fault: a value outside [0, bound) that a kernel found at element
 * pos of tensor, in the op numbered op. Zeroed before a program runs. */
typedef struct kg_fault {
	int32_t lock;
	int32_t set;
	int32_t op;
	int32_t tensor;
	int64_t pos;
	int64_t value;
	int64_t bound;
} kg_fault;

/* One launch of a kernel. scratch is private to the worker; isa is 0 for the
 * baseline, 1 for avx2+fma+f16c, 2 for avx512 f, bw, dq and vl. */
typedef struct kg_call {
	void *const *buf;
	const void *block;
	kg_fault *fault;
	void *scratch;
	int32_t op;
	int32_t isa;
} kg_call;

/* A kernel computes the work items lo <= i < hi of its launch. */
typedef void (*kg_kernel)(const kg_call *call, int64_t lo, int64_t hi);

/* kg_fault_set records a bad value. Of all that are set the one with the
 * lowest (op, pos) stays, whatever the order in which workers find them. */
static inline __attribute__((unused)) void kg_fault_set(const kg_call *call, int32_t tensor,
                                                        int64_t pos, int64_t value, int64_t bound) {
	kg_fault *f = call->fault;
	while (__atomic_exchange_n(&f->lock, 1, __ATOMIC_ACQUIRE)) {
		while (__atomic_load_n(&f->lock, __ATOMIC_RELAXED)) {
		}
	}
	if (!f->set || call->op < f->op || (call->op == f->op && pos < f->pos)) {
		f->op = call->op;
		f->tensor = tensor;
		f->pos = pos;
		f->value = value;
		f->bound = bound;
		__atomic_store_n(&f->set, 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&f->lock, 0, __ATOMIC_RELEASE);
}

/* kg_fault_is_set reports whether any kernel has recorded a fault. */
static inline __attribute__((unused)) int kg_fault_is_set(const kg_call *call) {
	return __atomic_load_n(&call->fault->set, __ATOMIC_ACQUIRE);
}

/* kg_isa_best gives the highest kg_call.isa that this processor and its
 * operating system run. Every processor with avx2 and fma also has f16c. */
static inline __attribute__((unused)) int32_t kg_isa_best(void) {
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
		return 0;
	}
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
		return 2;
	}
	return 1;
#else
	return 0;
#endif
}

#endif
