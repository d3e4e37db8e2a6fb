/* host.h: CUDA C++ as far as kernels of products use it, for the host: a thread of a
 * block is a thread of the process, and one block runs at a time. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
static thread_local uint3 threadIdx, blockIdx;

/* What the lanes of a warp show each other. */
struct warp {
	pthread_barrier_t barrier;
	const unsigned short *row[32];
	unsigned a[32][4], b[32][2];
};
static warp warps[32];
static pthread_barrier_t block_barrier;
static warp *own_warp() { return &warps[threadIdx.x / 32]; }
static void together() { pthread_barrier_wait(&own_warp()->barrier); }
static inline void __syncthreads() { pthread_barrier_wait(&block_barrier); }

static inline float __uint_as_float(unsigned x) { float f; memcpy(&f, &x, 4); return f; }
static inline float __int_as_float(int x) { return __uint_as_float(unsigned(x)); }
static inline unsigned __float_as_uint(float x) { unsigned u; memcpy(&u, &x, 4); return u; }
static inline int min(int x, int y) { return x < y ? x : y; }

static void fail(const char *what) {
	fprintf(stderr, "%s (thread %u of block %u, %u, %u)\n", what, threadIdx.x, blockIdx.x, blockIdx.y, blockIdx.z);
	exit(1);
}
