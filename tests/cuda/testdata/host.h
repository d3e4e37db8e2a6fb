/* host.h: CUDA C++ as far as kernels of products use it, for the host: a thread of a
 * block is a fibre, which runs until it waits for others, and one block runs at a time. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MSL_ASAN 1
#include "fibre.cpp"

#undef INFINITY
#undef NAN
#undef isnan
#undef isinf
#define __device__
#define __global__
#define __constant__
#define __shared__ static
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __noinline__
struct uint3 { unsigned x, y, z; };
static uint3 threadIdx, blockIdx;

static fibre_context scheduler, fibres[1024];

/* Where some threads wait until all of them have come. */
struct barrier {
	unsigned all, come, turn;
	void wait() {
		const unsigned before = turn;
		if (++come == all) {
			come = 0;
			++turn;
		}
		while (turn == before) {
			fibre_leave(&fibres[threadIdx.x], &scheduler, false);
		}
	}
};

/* What the lanes of a warp show each other. */
struct warp {
	barrier lanes;
	const unsigned short *row[32];
	unsigned a[32][4], b[32][2];
};
static warp warps[32];
static barrier block;
static warp *own_warp() { return &warps[threadIdx.x / 32]; }
static void together() { own_warp()->lanes.wait(); }
static inline void __syncthreads() { block.wait(); }

static inline float __uint_as_float(unsigned x) { float f; memcpy(&f, &x, 4); return f; }
static inline float __int_as_float(int x) { return __uint_as_float(unsigned(x)); }
static inline unsigned __float_as_uint(float x) { unsigned u; memcpy(&u, &x, 4); return u; }
static inline int min(int x, int y) { return x < y ? x : y; }

static void fail(const char *what) {
	fprintf(stderr, "%s (thread %u of block %u, %u, %u)\n", what, threadIdx.x, blockIdx.x, blockIdx.y, blockIdx.z);
	exit(1);
}
