/* The interface between the CPU runtime and generated kernels. Generated C
 * sources carry a copy of these structs; the layout must not change. */
#ifndef KGEN_ABI_H
#define KGEN_ABI_H

#include <stdint.h>

/* The first value found to be out of bounds in a program: the lowest op, then
 * the lowest position. Kernels take the lock to set it. */
typedef struct kg_fault {
	int32_t lock, set, op, tensor;
	int64_t pos, value, bound;
} kg_fault;

/* What a kernel is called with. isa is 0 for the baseline, 1 for AVX2 with FMA
 * and F16C, 2 for AVX-512 F, BW, DQ and VL. */
typedef struct kg_call {
	void *const *buf;
	const void *block;
	kg_fault *fault;
	void *scratch;
	int32_t op;
	int32_t isa;
} kg_call;

/* A kernel computes the work items [lo, hi). */
typedef void (*kg_kernel)(const kg_call *call, int64_t lo, int64_t hi);

#endif
