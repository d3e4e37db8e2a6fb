// The first bad value that a kernel of the program found.
struct kg_fault {
	atomic_uint lock;
	int set;
	int op;
	int tensor;
	long pos;
	long value;
	long bound;
};

// Sets the fault word, unless it is set for a lower position. Threads that find lower
// and lower ones write in any order, so each store is atomic.
inline void kg_fault_set(device kg_fault *fault, int tensor, long pos, long value, long bound) {
	const uint key = 0xffffffffu - uint(pos);
	if (atomic_fetch_max_explicit(&fault->lock, key, memory_order_relaxed) >= key) {
		return;
	}
	device atomic_uint *word = (device atomic_uint *)fault;
	atomic_store_explicit(word + 1, 1u, memory_order_relaxed);
	atomic_store_explicit(word + 3, uint(tensor), memory_order_relaxed);
	atomic_store_explicit(word + 4, uint(pos), memory_order_relaxed);
	atomic_store_explicit(word + 5, uint(pos >> 32), memory_order_relaxed);
	atomic_store_explicit(word + 6, uint(value), memory_order_relaxed);
	atomic_store_explicit(word + 7, uint(value >> 32), memory_order_relaxed);
	atomic_store_explicit(word + 8, uint(bound), memory_order_relaxed);
	atomic_store_explicit(word + 9, uint(bound >> 32), memory_order_relaxed);
}

// Whether the fault word is set.
inline bool kg_stopped(device kg_fault *fault) {
	return atomic_load_explicit(&fault->lock, memory_order_relaxed) != 0u;
}

// A bf16 is the upper half of a float.
inline float kg_from_bf16(ushort x) {
	return as_type<float>(uint(x) << 16);
}

// Rounds to nearest even; a NaN stays one.
inline ushort kg_to_bf16(float x) {
	const uint bits = as_type<uint>(x);
	if ((bits & 0x7fffffffu) > 0x7f800000u) {
		return ushort((bits >> 16) | 0x40u);
	}
	return ushort((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Truncates; what an int cannot hold gives its ends, NaN gives 0.
inline int kg_to_int(float x) {
	if (isnan(x)) {
		return 0;
	}
	if (x >= 2147483648.0f) {
		return 2147483647;
	}
	if (x < -2147483648.0f) {
		return -2147483647 - 1;
	}
	return int(x);
}

// The sum, wrapping around.
inline int kg_wrap_add(int x, int y) { return int(uint(x) + uint(y)); }

// The difference, wrapping around.
inline int kg_wrap_sub(int x, int y) { return int(uint(x) - uint(y)); }

// The product, wrapping around.
inline int kg_wrap_mul(int x, int y) { return int(uint(x) * uint(y)); }

// The negative, wrapping around.
inline int kg_wrap_neg(int x) { return int(0u - uint(x)); }

// Rounds the quotient down; by zero it is 0.
inline kg_index kg_floor_div(kg_index x, kg_index y) {
	if (y == 0) {
		return 0;
	}
	if (y == -1) {
		return kg_index(0ul - ulong(x));
	}
	const kg_index q = x / y;
	return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;
}

// The remainder has the sign of y; by zero it is 0.
inline kg_index kg_floor_mod(kg_index x, kg_index y) {
	if (y == 0 || y == -1) {
		return 0;
	}
	const kg_index r = x - x / y * y;
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

inline uint kg_uint_div(uint x, uint y) {
	return y == 0u ? 0u : x / y;
}

inline uint kg_uint_mod(uint x, uint y) {
	return y == 0u ? 0u : x % y;
}

inline ulong kg_ulong_div(ulong x, ulong y) {
	return y == 0ul ? 0ul : x / y;
}

inline ulong kg_ulong_mod(ulong x, ulong y) {
	return y == 0ul ? 0ul : x % y;
}

// NaN if either side is NaN, which max does not promise.
inline float kg_max(float x, float y) {
	return x > y || isnan(x) ? x : y;
}

// NaN if either side is NaN, which min does not promise.
inline float kg_min(float x, float y) {
	return x < y || isnan(x) ? x : y;
}

// Whether x takes the place of best in a search for the greatest value: the
// first NaN wins.
inline bool kg_above(float x, float best) {
	return x > best || (isnan(x) && !isnan(best));
}

// The same for the least value.
inline bool kg_below(float x, float best) {
	return x < best || (isnan(x) && !isnan(best));
}

// The greatest value of the SIMD group, NaN if any is NaN.
inline float kg_simd_max(float x) {
	const float top = simd_max(isnan(x) ? -INFINITY : x);
	return simd_any(isnan(x)) ? NAN : top;
}

// The least value of the SIMD group, NaN if any is NaN.
inline float kg_simd_min(float x) {
	const float bottom = simd_min(isnan(x) ? INFINITY : x);
	return simd_any(isnan(x)) ? NAN : bottom;
}

// -1, 0 or 1; NaN for NaN.
inline float kg_sign(float x) {
	return isnan(x) ? x : sign(x);
}

// log(1+x), accurate near 0: the rounding error of 1+x is taken out again
// (Kahan; Goldberg, What Every Computer Scientist Should Know, theorem 4).
inline float kg_log1p(float x) {
	const float u = 1.0f + x;
	if (u == 1.0f || u == INFINITY) {
		return x;
	}
	return precise::log(u) * (x / (u - 1.0f));
}

// exp(x)-1, accurate near 0: the rounding error of exp(x) is taken out again by
// its logarithm (Kahan; Higham, Accuracy and Stability of Numerical Algorithms,
// section 1.14.1).
inline float kg_expm1(float x) {
	const float u = precise::exp(x);
	const float um1 = u - 1.0f;
	if (u == 1.0f) {
		return x;
	}
	if (um1 == -1.0f || isinf(u)) {
		return um1;
	}
	return um1 * (x / precise::log(u));
}

// Far out tanh is 1 in every bit.
inline float kg_tanh(float x) {
	return abs(x) > 10.0f ? copysign(1.0f, x) : precise::tanh(x);
}

// 1/(1+exp(-x)) without overflow.
inline float kg_sigmoid(float x) {
	const float e = precise::exp(-abs(x));
	return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

// The error function, a minimax polynomial near 0 and 1-exp(polynomial) beyond
// (coefficients by N. Juffa, largest error 1 ulp).
inline float kg_erf(float x) {
	const float t = abs(x);
	const float s = x * x;
	if (t > 0.927734375f) {
		float r = fma(-1.72853470e-5f, t, 3.83197126e-4f);
		const float u = fma(-3.88396438e-3f, t, 2.42546219e-2f);
		r = fma(r, s, u);
		r = fma(r, t, -1.06777877e-1f);
		r = fma(r, t, -6.34846687e-1f);
		r = fma(r, t, -1.28717512e-1f);
		r = fma(r, t, -t);
		return copysign(1.0f - precise::exp(r), x);
	}
	float r = -5.96761703e-4f;
	r = fma(r, s, 4.99119423e-3f);
	r = fma(r, s, -2.67681349e-2f);
	r = fma(r, s, 1.12819925e-1f);
	r = fma(r, s, -3.76125336e-1f);
	r = fma(r, s, 1.28379166e-1f);
	return fma(r, x, x);
}

// x to the power of y with the special cases of IEEE 754-2019, 9.2.1, which pow
// leaves open for x <= 0.
inline float kg_pow(float x, float y) {
	if (y == 0.0f || x == 1.0f) {
		return 1.0f;
	}
	if (isnan(x) || isnan(y)) {
		return NAN;
	}
	const float m = abs(x);
	if (isinf(y)) {
		return m == 1.0f ? 1.0f : (m > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f;
	}
	const bool whole = floor(y) == y;
	const bool odd = whole && abs(y) < 16777216.0f && (int(abs(y)) & 1) != 0;
	float r = 0.0f;
	if (m == 0.0f || isinf(m)) {
		r = (m == 0.0f) == (y < 0.0f) ? INFINITY : 0.0f;
	} else if (x < 0.0f && !whole) {
		return NAN;
	} else {
		r = precise::pow(m, y);
	}
	return odd && signbit(x) ? -r : r;
}

// The first word of Philox4x32-10 (Salmon et al., Parallel Random Numbers: As
// Easy as 1, 2, 3, 2011).
inline uint kg_philox(ulong seed, ulong counter) {
	uint k0 = uint(seed);
	uint k1 = uint(seed >> 32);
	uint c0 = uint(counter);
	uint c1 = uint(counter >> 32);
	uint c2 = 0u;
	uint c3 = 0u;
	for (int i = 0; i < 10; ++i) {
		const uint hi0 = mulhi(0xD2511F53u, c0);
		const uint hi2 = mulhi(0xCD9E8D57u, c2);
		const uint lo0 = 0xD2511F53u * c0;
		const uint lo2 = 0xCD9E8D57u * c2;
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
inline float kg_uniform(uint word) {
	return float(word >> 8) * 5.9604644775390625e-8f;
}

// Four consecutive floats, at a multiple of 16 bytes.
inline void kg_load_f32x4(thread float *to, device const float *from) {
	const float4 x = *(device const float4 *)from;
	#pragma unroll
	for (int i = 0; i < 4; ++i) {
		to[i] = x[i];
	}
}

inline void kg_load_f32x8(thread float *to, device const float *from) {
	kg_load_f32x4(to, from);
	kg_load_f32x4(to + 4, from + 4);
}

// Eight consecutive halves, at a multiple of 16 bytes.
inline void kg_load_f16x8(thread float *to, device const half *from) {
	const uint4 x = *(device const uint4 *)from;
	#pragma unroll
	for (int i = 0; i < 4; ++i) {
		const half2 two = as_type<half2>(x[i]);
		to[2 * i] = float(two.x);
		to[2 * i + 1] = float(two.y);
	}
}

// Eight consecutive bf16s, at a multiple of 16 bytes.
inline void kg_load_bf16x8(thread float *to, device const ushort *from) {
	const uint4 x = *(device const uint4 *)from;
	#pragma unroll
	for (int i = 0; i < 4; ++i) {
		to[2 * i] = as_type<float>(x[i] << 16);
		to[2 * i + 1] = as_type<float>(x[i] & 0xffff0000u);
	}
}

// Stores four floats at a multiple of 16 bytes.
inline void kg_store_f32x4(device float *to, thread const float *from) {
	*(device float4 *)to = float4(from[0], from[1], from[2], from[3]);
}

inline void kg_store_f32x8(device float *to, thread const float *from) {
	kg_store_f32x4(to, from);
	kg_store_f32x4(to + 4, from + 4);
}

// Rounds eight floats and stores them at a multiple of 16 bytes.
inline void kg_store_f16x8(device half *to, thread const float *from) {
	uint4 x;
	#pragma unroll
	for (int i = 0; i < 4; ++i) {
		x[i] = as_type<uint>(half2(half(from[2 * i]), half(from[2 * i + 1])));
	}
	*(device uint4 *)to = x;
}

// Rounds eight floats and stores them at a multiple of 16 bytes.
inline void kg_store_bf16x8(device ushort *to, thread const float *from) {
	uint4 x;
	#pragma unroll
	for (int i = 0; i < 4; ++i) {
		x[i] = uint(kg_to_bf16(from[2 * i])) | uint(kg_to_bf16(from[2 * i + 1])) << 16;
	}
	*(device uint4 *)to = x;
}

// Reads four floats that lie side by side.
inline void kg_fetch_f32(thread float *to, device const float *from) {
	for (int i = 0; i < 4; ++i) {
		to[i] = from[i];
	}
}

// Reads eight halfs, or widens four.
inline void kg_fetch_f16(thread half *to, device const half *from) {
	for (int i = 0; i < 8; ++i) {
		to[i] = from[i];
	}
}
inline void kg_fetch_f16(thread float *to, device const half *from) {
	for (int i = 0; i < 4; ++i) {
		to[i] = float(from[i]);
	}
}

// Reads eight bf16, or widens four.
inline void kg_fetch_bf16(thread bfloat *to, device const ushort *from) {
	for (int i = 0; i < 8; ++i) {
		to[i] = as_type<bfloat>(from[i]);
	}
}
inline void kg_fetch_bf16(thread float *to, device const ushort *from) {
	for (int i = 0; i < 4; ++i) {
		to[i] = kg_from_bf16(from[i]);
	}
}

// Reads eight floats, or widens eight elements.
inline void kg_fetch8_f32(thread float *to, device const float *from) {
	kg_fetch_f32(to, from);
	kg_fetch_f32(to + 4, from + 4);
}

// The same of halfs.
inline void kg_fetch8_f16(thread float *to, device const half *from) {
	kg_fetch_f16(to, from);
	kg_fetch_f16(to + 4, from + 4);
}

// The same of bf16.
inline void kg_fetch8_bf16(thread float *to, device const ushort *from) {
	kg_fetch_bf16(to, from);
	kg_fetch_bf16(to + 4, from + 4);
}

// Reads four floats.
inline void kg_get4(thread float *to, threadgroup const float *from) {
	for (int i = 0; i < 4; ++i) {
		to[i] = from[i];
	}
}

// Writes four floats.
inline void kg_put4(threadgroup float *to, thread const float *from) {
	for (int i = 0; i < 4; ++i) {
		to[i] = from[i];
	}
}

// Writes eight elements.
template <class T> inline void kg_put8(threadgroup T *to, thread const T *from) {
	for (int i = 0; i < 8; ++i) {
		to[i] = from[i];
	}
}

// A block of 16 by 16 halfs, a factor of a product: four matrices, row by row.
struct kg_block_f16 {
	simdgroup_half8x8 m[4];
};

// The same for bf16.
struct kg_block_bf16 {
	simdgroup_bfloat8x8 m[4];
};

// The same for floats: a factor, or sums.
struct kg_block_f32 {
	simdgroup_float8x8 m[4];
};

// Sets the sums to zero.
inline void kg_clear(thread kg_block_f32 &sums) {
	for (int i = 0; i < 4; ++i) {
		sums.m[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
	}
}

// A thread's element i. Of each matrix it has two, beside each other.
inline float kg_cell(thread kg_block_f32 &sums, int i) {
	return sums.m[i % 4 / 2 * 2 + i / 4].thread_elements()[i % 2];
}

// Reads a left factor of which each row is a line of the array.
template <class B, class T> inline void kg_load_left(thread B &to, threadgroup const T *array, int at, int pitch) {
	for (int i = 0; i < 4; ++i) {
		simdgroup_load(to.m[i], array + at + i / 2 * 8 * pitch + i % 2 * 8, ulong(pitch));
	}
}

// Reads a left factor of which each column is one.
template <class B, class T> inline void kg_load_left_across(thread B &to, threadgroup const T *array, int at, int pitch) {
	for (int i = 0; i < 4; ++i) {
		simdgroup_load(to.m[i], array + at + i % 2 * 8 * pitch + i / 2 * 8, ulong(pitch), ulong2(0, 0), true);
	}
}

// Reads a right factor of which each row is a line of the array.
template <class B, class T> inline void kg_load_right(thread B &to, threadgroup const T *array, int at, int pitch) {
	for (int i = 0; i < 4; ++i) {
		simdgroup_load(to.m[i], array + at + i / 2 * 8 * pitch + i % 2 * 8, ulong(pitch));
	}
}

// Reads a right factor of which each column is one.
template <class B, class T> inline void kg_load_right_across(thread B &to, threadgroup const T *array, int at, int pitch) {
	for (int i = 0; i < 4; ++i) {
		simdgroup_load(to.m[i], array + at + i % 2 * 8 * pitch + i / 2 * 8, ulong(pitch), ulong2(0, 0), true);
	}
}

// Adds the product of two blocks. It is formed first, so that the rounding error of a
// deep product is that of its blocks and of their number.
template <class B> inline void kg_multiply(thread kg_block_f32 &sums, thread B &a, thread B &b) {
	for (int i = 0; i < 4; ++i) {
		simdgroup_float8x8 part = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
		simdgroup_multiply_accumulate(part, a.m[i / 2 * 2], b.m[i % 2], part);
		simdgroup_multiply_accumulate(part, a.m[i / 2 * 2 + 1], b.m[i % 2 + 2], part);
		sums.m[i].thread_elements()[0] += part.thread_elements()[0];
		sums.m[i].thread_elements()[1] += part.thread_elements()[1];
	}
}
