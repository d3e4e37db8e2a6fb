// The first bad value that a kernel of the program found: that of the first call,
// and of those the one that stands first.
struct kg_fault {
	unsigned lock;
	int set;
	int op;
	int tensor;
	long long pos;
	long long value;
	long long bound;
};

// The address that stands at p, of a tensor that is read. It is had where this stands,
// before a kernel waits.
__device__ __forceinline__ void *kg_tensor(void *const *p) {
#if __CUDA_ARCH__ >= 900
	kg_ulong address;
	asm volatile("ld.global.u64 %0, [%1];" : "=l"(address) : "l"(p));
	return __cvta_global_to_generic(address);
#else
	return *p;
#endif
}

// The address that stands at p, of a tensor that is written: it may be read late, when
// registers are free.
__device__ __forceinline__ void *kg_result(void *const *p) {
	void *address = *p;
#if __CUDA_ARCH__ >= 900
	__builtin_assume(__isGlobal(address));
#endif
	return address;
}

// The extent that stands at p, read where this stands.
__device__ __forceinline__ kg_index kg_extent(const long long *p) {
#if __CUDA_ARCH__ >= 900
	kg_index extent;
#ifdef KG_INDEX_64
	asm volatile("ld.global.b64 %0, [%1];" : "=l"(extent) : "l"(p));
#else
	asm volatile("ld.global.b32 %0, [%1];" : "=r"(extent) : "l"(p));
#endif
	return extent;
#else
	return kg_index(*p);
#endif
}

// Waits for the end of the kernels before, and lets the next one begin that waits
// likewise: its launch and the reading of its parameters cost no time then.
__device__ __forceinline__ void kg_await() {
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
	asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Sets the fault word, unless an earlier call or an earlier element did.
__device__ __noinline__ void kg_fault_set(kg_fault *fault, int op, int tensor, long long pos, long long value, long long bound) {
	while (atomicCAS(&fault->lock, 0u, 1u) != 0u) {
		__nanosleep(64);
	}
	__threadfence();
	volatile kg_fault *f = fault;
	if (f->set == 0 || (f->set == 1 && f->op == op && (f->tensor > tensor || (f->tensor == tensor && f->pos > pos)))) {
		f->set = 1;
		f->op = op;
		f->tensor = tensor;
		f->pos = pos;
		f->value = value;
		f->bound = bound;
	}
	__threadfence();
	atomicExch(&fault->lock, 0u);
}

// Whether the fault word is set.
__device__ __forceinline__ bool kg_stopped(const kg_fault *fault) {
	return *(const volatile int *)&fault->set != 0;
}

// A half, widened.
__device__ __forceinline__ float kg_from_f16(unsigned short x) {
	float r;
	asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x));
	return r;
}

// Rounds to nearest even.
__device__ __forceinline__ unsigned short kg_to_f16(float x) {
	unsigned short r;
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
	return r;
}

// A bf16 is the upper half of a float.
__device__ __forceinline__ float kg_from_bf16(unsigned short x) {
	return __uint_as_float(unsigned(x) << 16);
}

// Rounds to nearest even; a NaN stays one.
__device__ __forceinline__ unsigned short kg_to_bf16(float x) {
	const unsigned bits = __float_as_uint(x);
	if ((bits & 0x7fffffffu) > 0x7f800000u) {
		return (unsigned short)((bits >> 16) | 0x40u);
	}
	return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Truncates; what an int cannot hold gives its ends, NaN gives 0.
__device__ __forceinline__ int kg_to_int(float x) {
	return __float2int_rz(x);
}

// The sum, wrapping around.
__device__ __forceinline__ int kg_wrap_add(int x, int y) { return int(unsigned(x) + unsigned(y)); }

// The difference, wrapping around.
__device__ __forceinline__ int kg_wrap_sub(int x, int y) { return int(unsigned(x) - unsigned(y)); }

// The product, wrapping around.
__device__ __forceinline__ int kg_wrap_mul(int x, int y) { return int(unsigned(x) * unsigned(y)); }

// The negative, wrapping around.
__device__ __forceinline__ int kg_wrap_neg(int x) { return int(0u - unsigned(x)); }

// Rounds the quotient down; by zero it is 0.
__device__ __forceinline__ kg_index kg_floor_div(kg_index x, kg_index y) {
	if (y == 0) {
		return 0;
	}
	if (y == -1) {
		return kg_index(0ull - kg_ulong(x));
	}
	const kg_index q = x / y;
	return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;
}

// The remainder has the sign of y; by zero it is 0.
__device__ __forceinline__ kg_index kg_floor_mod(kg_index x, kg_index y) {
	if (y == 0 || y == -1) {
		return 0;
	}
	const kg_index r = x - x / y * y;
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

__device__ __forceinline__ unsigned kg_uint_div(unsigned x, unsigned y) {
	return y == 0u ? 0u : x / y;
}

__device__ __forceinline__ unsigned kg_uint_mod(unsigned x, unsigned y) {
	return y == 0u ? 0u : x % y;
}

__device__ __forceinline__ unsigned long long kg_ulong_div(unsigned long long x, unsigned long long y) {
	return y == 0ull ? 0ull : x / y;
}

__device__ __forceinline__ unsigned long long kg_ulong_mod(unsigned long long x, unsigned long long y) {
	return y == 0ull ? 0ull : x % y;
}

// NaN if either side is NaN, which fmaxf does not give.
__device__ __forceinline__ float kg_max(float x, float y) {
#if __CUDA_ARCH__ >= 800
	float r;
	asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
	return r;
#else
	return x > y || isnan(x) ? x : y;
#endif
}

// NaN if either side is NaN, which fminf does not give.
__device__ __forceinline__ float kg_min(float x, float y) {
#if __CUDA_ARCH__ >= 800
	float r;
	asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
	return r;
#else
	return x < y || isnan(x) ? x : y;
#endif
}

// Whether x takes the place of best in a search for the greatest value: the
// first NaN wins.
__device__ __forceinline__ bool kg_above(float x, float best) {
	return x > best || (isnan(x) && !isnan(best));
}

// The same for the least value.
__device__ __forceinline__ bool kg_below(float x, float best) {
	return x < best || (isnan(x) && !isnan(best));
}

// The sum over the warp, the same bits in each lane.
template <class T> __device__ __forceinline__ T kg_simd_sum(T x) {
	for (int mask = 16; mask > 0; mask >>= 1) {
		x += __shfl_xor_sync(0xffffffffu, x, mask);
	}
	return x;
}

// The product over the warp.
template <class T> __device__ __forceinline__ T kg_simd_product(T x) {
	for (int mask = 16; mask > 0; mask >>= 1) {
		x *= __shfl_xor_sync(0xffffffffu, x, mask);
	}
	return x;
}

// The greatest value of the warp; of floats NaN if any is NaN.
__device__ __forceinline__ float kg_simd_max(float x) {
	for (int mask = 16; mask > 0; mask >>= 1) {
		x = kg_max(x, __shfl_xor_sync(0xffffffffu, x, mask));
	}
	return x;
}
__device__ __forceinline__ int kg_simd_max(int x) {
	for (int mask = 16; mask > 0; mask >>= 1) {
		x = max(x, __shfl_xor_sync(0xffffffffu, x, mask));
	}
	return x;
}

// The least value of the warp; of floats NaN if any is NaN.
__device__ __forceinline__ float kg_simd_min(float x) {
	for (int mask = 16; mask > 0; mask >>= 1) {
		x = kg_min(x, __shfl_xor_sync(0xffffffffu, x, mask));
	}
	return x;
}
__device__ __forceinline__ int kg_simd_min(int x) {
	for (int mask = 16; mask > 0; mask >>= 1) {
		x = min(x, __shfl_xor_sync(0xffffffffu, x, mask));
	}
	return x;
}

// Whether any lane of the warp says so.
__device__ __forceinline__ bool kg_simd_any(bool x) {
	return __any_sync(0xffffffffu, x) != 0;
}

// Whether all lanes of the warp say so.
__device__ __forceinline__ bool kg_simd_all(bool x) {
	return __all_sync(0xffffffffu, x) != 0;
}

// -1, 0 or 1; NaN for NaN.
__device__ __forceinline__ float kg_sign(float x) {
	return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x;
}
__device__ __forceinline__ int kg_sign(int x) {
	return (x > 0) - (x < 0);
}

// Asks for memory that will be read soon, into the cache that the whole card shares.
__device__ __forceinline__ void kg_prefetch(const void *p) {
	asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
}

// Picks one of two values that are both computed: of a choice with a function in it the
// compiler makes a branch, and the threads of a warp seldom agree on it.
__device__ __forceinline__ float kg_choose(bool first, float a, float b) {
	return first ? a : b;
}

// 1/(1+exp(-x)) without overflow.
__device__ __forceinline__ float kg_sigmoid(float x) {
	const float e = expf(-fabsf(x));
	return __fdividef(x < 0.0f ? e : 1.0f, 1.0f + e); // the divisor is between 1 and 2
}

// exp(x*by) to 1e-5 of its value, and 0 below the least normal float. A constant by costs
// nothing.
__device__ __forceinline__ float kg_rough_exp(float x, float by = 1.0f) {
	float r;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x * (by * 1.44269504f)));
	return r;
}

// 1/(1+exp(-x*by)) to 1e-5 of its value.
__device__ __forceinline__ float kg_rough_sigmoid(float x, float by = 1.0f) {
	float r;
	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(1.0f + kg_rough_exp(x, -by)));
	return r;
}

// The quotient to two units in its last place: the reciprocal of a divisor that many
// share is taken once.
__device__ __forceinline__ float kg_rough_div(float x, float y) {
	float r;
	asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(y));
	return x * r;
}

// 1/sqrt(x).
__device__ __forceinline__ float kg_rsqrt(float x) {
	return 1.0f / sqrtf(x);
}

// The first word of Philox4x32-10 (Salmon et al., Parallel Random Numbers: As
// Easy as 1, 2, 3, 2011).
__device__ __forceinline__ unsigned kg_philox(unsigned long long seed, unsigned long long counter) {
	unsigned k0 = unsigned(seed);
	unsigned k1 = unsigned(seed >> 32);
	unsigned c0 = unsigned(counter);
	unsigned c1 = unsigned(counter >> 32);
	unsigned c2 = 0u;
	unsigned c3 = 0u;
	for (int i = 0; i < 10; ++i) {
		const unsigned hi0 = __umulhi(0xD2511F53u, c0);
		const unsigned hi2 = __umulhi(0xCD9E8D57u, c2);
		const unsigned lo0 = 0xD2511F53u * c0;
		const unsigned lo2 = 0xCD9E8D57u * c2;
		c0 = hi2 ^ c1 ^ k0;
		c1 = lo2;
		c2 = hi0 ^ c3 ^ k1;
		c3 = lo0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	return c0;
}

// A random word as a number in [0, 1).
__device__ __forceinline__ float kg_uniform(unsigned word) {
	return float(word >> 8) * 5.9604644775390625e-8f;
}

// Four consecutive floats, at a multiple of 16 bytes.
__device__ __forceinline__ void kg_load_f32x4(float *to, const float *from) {
	const float4 x = *(const float4 *)from;
	to[0] = x.x;
	to[1] = x.y;
	to[2] = x.z;
	to[3] = x.w;
}

__device__ __forceinline__ void kg_load_f32x8(float *to, const float *from) {
	kg_load_f32x4(to, from);
	kg_load_f32x4(to + 4, from + 4);
}

// Two halves, widened.
__device__ __forceinline__ void kg_from_f16x2(float *to, unsigned x) {
	to[0] = kg_from_f16((unsigned short)x);
	to[1] = kg_from_f16((unsigned short)(x >> 16));
}

// Eight consecutive halves, at a multiple of 16 bytes.
__device__ __forceinline__ void kg_load_f16x8(float *to, const unsigned short *from) {
	const uint4 x = *(const uint4 *)from;
	kg_from_f16x2(to, x.x);
	kg_from_f16x2(to + 2, x.y);
	kg_from_f16x2(to + 4, x.z);
	kg_from_f16x2(to + 6, x.w);
}

// Two bf16s, widened.
__device__ __forceinline__ void kg_from_bf16x2(float *to, unsigned x) {
	to[0] = __uint_as_float(x << 16);
	to[1] = __uint_as_float(x & 0xffff0000u);
}

// Eight consecutive bf16s, at a multiple of 16 bytes.
__device__ __forceinline__ void kg_load_bf16x8(float *to, const unsigned short *from) {
	const uint4 x = *(const uint4 *)from;
	kg_from_bf16x2(to, x.x);
	kg_from_bf16x2(to + 2, x.y);
	kg_from_bf16x2(to + 4, x.z);
	kg_from_bf16x2(to + 6, x.w);
}

// Stores four floats at a multiple of 16 bytes.
__device__ __forceinline__ void kg_store_f32x4(float *to, const float *from) {
	*(float4 *)to = make_float4(from[0], from[1], from[2], from[3]);
}

__device__ __forceinline__ void kg_store_f32x8(float *to, const float *from) {
	kg_store_f32x4(to, from);
	kg_store_f32x4(to + 4, from + 4);
}

// Rounds two floats, the first into the lower half.
__device__ __forceinline__ unsigned kg_to_f16x2(const float *x) {
	unsigned r;
	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(x[1]), "f"(x[0]));
	return r;
}

// Rounds eight floats and stores them at a multiple of 16 bytes.
__device__ __forceinline__ void kg_store_f16x8(unsigned short *to, const float *from) {
	*(uint4 *)to = make_uint4(kg_to_f16x2(from), kg_to_f16x2(from + 2), kg_to_f16x2(from + 4), kg_to_f16x2(from + 6));
}

// Rounds two floats, the first into the lower half.
__device__ __forceinline__ unsigned kg_to_bf16x2(const float *x) {
#if __CUDA_ARCH__ >= 800
	unsigned r;
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(x[1]), "f"(x[0]));
	return r;
#else
	return unsigned(kg_to_bf16(x[0])) | unsigned(kg_to_bf16(x[1])) << 16;
#endif
}

// Rounds eight floats and stores them at a multiple of 16 bytes.
__device__ __forceinline__ void kg_store_bf16x8(unsigned short *to, const float *from) {
	*(uint4 *)to = make_uint4(kg_to_bf16x2(from), kg_to_bf16x2(from + 2), kg_to_bf16x2(from + 4), kg_to_bf16x2(from + 6));
}

// 16 bytes, of one access where they begin at a multiple of 16.
struct alignas(16) kg_16_bytes {
	unsigned w[4];
};

// Whether an access of so many bytes may be at p.
__device__ __forceinline__ bool kg_fits(const void *p, unsigned bytes) {
	return ((unsigned long long)p & (bytes - 1u)) == 0ull;
}

// Reads four floats.
__device__ __forceinline__ void kg_fetch_f32(float *to, const float *from) {
	if (kg_fits(from, 16u)) {
		const kg_16_bytes x = *(const kg_16_bytes *)from;
		#pragma unroll
		for (int i = 0; i < 4; ++i) {
			to[i] = __uint_as_float(x.w[i]);
		}
	} else {
		#pragma unroll
		for (int i = 0; i < 4; ++i) {
			to[i] = from[i];
		}
	}
}

// Reads eight elements of two bytes, two into a word.
__device__ __forceinline__ void kg_fetch_pairs(unsigned *to, const unsigned short *from) {
	if (kg_fits(from, 16u)) {
		const kg_16_bytes x = *(const kg_16_bytes *)from;
		#pragma unroll
		for (int i = 0; i < 4; ++i) {
			to[i] = x.w[i];
		}
	} else {
		#pragma unroll
		for (int i = 0; i < 4; ++i) {
			to[i] = unsigned(from[2 * i]) | unsigned(from[2 * i + 1]) << 16;
		}
	}
}

// Reads eight halfs, or widens four.
__device__ __forceinline__ void kg_fetch_f16(unsigned *to, const unsigned short *from) {
	kg_fetch_pairs(to, from);
}
__device__ __forceinline__ void kg_fetch_f16(float *to, const unsigned short *from) {
	#pragma unroll
	for (int i = 0; i < 4; ++i) {
		to[i] = kg_from_f16(from[i]);
	}
}

// Reads eight bf16, or widens four.
__device__ __forceinline__ void kg_fetch_bf16(unsigned *to, const unsigned short *from) {
	kg_fetch_pairs(to, from);
}
__device__ __forceinline__ void kg_fetch_bf16(float *to, const unsigned short *from) {
	#pragma unroll
	for (int i = 0; i < 4; ++i) {
		to[i] = kg_from_bf16(from[i]);
	}
}

// Sets element i of those that words hold in pairs.
__device__ __forceinline__ void kg_set(unsigned *words, int i, unsigned short x) {
	const unsigned shift = unsigned(i & 1) * 16u;
	words[i >> 1] = (words[i >> 1] & ~(0xffffu << shift)) | unsigned(x) << shift;
}

// Reads four floats that begin at a multiple of 16 bytes in shared memory.
__device__ __forceinline__ void kg_get4(float *to, const float *from) {
	const kg_16_bytes x = *(const kg_16_bytes *)from;
	#pragma unroll
	for (int i = 0; i < 4; ++i) {
		to[i] = __uint_as_float(x.w[i]);
	}
}

// Writes four floats there.
__device__ __forceinline__ void kg_put4(float *to, const float *from) {
	kg_16_bytes x;
	#pragma unroll
	for (int i = 0; i < 4; ++i) {
		x.w[i] = __float_as_uint(from[i]);
	}
	*(kg_16_bytes *)to = x;
}

// Writes eight elements of two bytes there.
__device__ __forceinline__ void kg_put8(unsigned short *to, const unsigned *from) {
	kg_16_bytes x;
	#pragma unroll
	for (int i = 0; i < 4; ++i) {
		x.w[i] = from[i];
	}
	*(kg_16_bytes *)to = x;
}

// A lane's part of a block of 16 by 16 halfs, a factor of a product: as fragment A of
// mma.m16n8k16 where it is the left one; where it is the right one, as two fragments B
// beside each other (PTX ISA, "Matrix Fragments for mma.m16n8k16").
struct kg_block_f16 {
	unsigned r[4];
};

// The same for bf16.
struct kg_block_bf16 {
	unsigned r[4];
};

// A lane's part of a block of 16 by 16 sums: two fragments C of mma.m16n8k16 beside
// each other. Its first element has row lane/4 and column lane%4*2.
struct kg_block_f32 {
	float v[8];
};

// Sets the sums to zero.
__device__ __forceinline__ void kg_clear(kg_block_f32 &sums) {
	#pragma unroll
	for (int i = 0; i < 8; ++i) {
		sums.v[i] = 0.0f;
	}
}

// A lane's element i.
__device__ __forceinline__ float kg_cell(const kg_block_f32 &sums, int i) { return sums.v[i]; }

// The address of an array of shared memory as instructions take it.
__device__ __forceinline__ unsigned kg_shared_address(const void *array) {
	unsigned at;
	asm("{\n"
		".reg .u64 wide;\n"
		"cvta.to.shared.u64 wide, %1;\n"
		"cvt.u32.u64 %0, wide;\n"
		"}" : "=r"(at) : "l"(array));
	return at;
}

// Reads four matrices of 8 by 8 from shared memory; lane i has row i%8 of matrix i/8.
// Each lane gets of each matrix the elements 2*(lane%4) and the next one of row lane/4
// (PTX ISA, ldmatrix).
__device__ __forceinline__ void kg_ldmatrix(unsigned (&r)[4], const unsigned short *array, int row) {
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		: "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(kg_shared_address(array) + 2u * unsigned(row)) : "memory");
}

// The same of the matrices transposed.
__device__ __forceinline__ void kg_ldmatrix_across(unsigned (&r)[4], const unsigned short *array, int row) {
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		: "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(kg_shared_address(array) + 2u * unsigned(row)) : "memory");
}

// Which row the lane has to name, where the second of four matrices lies below the
// first, and the third beside it.
__device__ __forceinline__ int kg_row_below(int pitch) {
	const int lane = int(threadIdx.x & 31u);
	return lane % 16 * pitch + lane / 16 * 8;
}

// The same where the second lies beside the first, and the third below it.
__device__ __forceinline__ int kg_row_beside(int pitch) {
	const int lane = int(threadIdx.x & 31u);
	return (lane / 16 * 8 + lane % 8) * pitch + lane / 8 % 2 * 8;
}

// Reads a left factor of which each row is a line of the array.
template <class T> __device__ __forceinline__ void kg_load_left(T &to, const unsigned short *array, int at, int pitch) {
	kg_ldmatrix(to.r, array, at + kg_row_below(pitch));
}

// Reads a left factor of which each column is one.
template <class T> __device__ __forceinline__ void kg_load_left_across(T &to, const unsigned short *array, int at, int pitch) {
	kg_ldmatrix_across(to.r, array, at + kg_row_beside(pitch));
}

// Reads a right factor of which each row is a line of the array.
template <class T> __device__ __forceinline__ void kg_load_right(T &to, const unsigned short *array, int at, int pitch) {
	kg_ldmatrix_across(to.r, array, at + kg_row_below(pitch));
}

// Reads a right factor of which each column is one.
template <class T> __device__ __forceinline__ void kg_load_right_across(T &to, const unsigned short *array, int at, int pitch) {
	kg_ldmatrix(to.r, array, at + kg_row_beside(pitch));
}

// Adds the product of fragments A and B.
__device__ __forceinline__ void kg_mma(float *c, const kg_block_f16 &a, unsigned b0, unsigned b1) {
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void kg_mma(float *c, const kg_block_bf16 &a, unsigned b0, unsigned b1) {
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b0), "r"(b1));
}

// Adds the product of two blocks.
template <class T> __device__ __forceinline__ void kg_multiply(kg_block_f32 &sums, const T &a, const T &b) {
	kg_mma(sums.v, a, b.r[0], b.r[1]);
	kg_mma(sums.v + 4, a, b.r[2], b.r[3]);
}
