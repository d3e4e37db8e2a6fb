// Barriers and the functions of SIMD groups of 32 threads.
#pragma once

namespace metal {
enum class mem_flags : uint { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4, mem_threadgroup_imageblock = 8, mem_object_data = 16 };
inline constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }

// The defaulted arguments carry the place of the call.
#if defined(MSL_RUN)
#define MSL_SITE , int line = __builtin_LINE(), int column = __builtin_COLUMN()
#define MSL_SITE1 int line = __builtin_LINE(), int column = __builtin_COLUMN()
#else
#define MSL_SITE
#define MSL_SITE1
#endif
MSL_FN void threadgroup_barrier(mem_flags f MSL_SITE) MSL_BODY(msl_rt_barrier(uint(f), line, column);)
MSL_FN void simdgroup_barrier(mem_flags f MSL_SITE) MSL_BODY(msl_rt_simdgroup_barrier(uint(f), line, column);)
#if defined(MSL_CHECK)
#define MSL_FENCE(o) __attribute__((enable_if(o == memory_order_relaxed || o == memory_order_seq_cst, "the order must be memory_order_relaxed or memory_order_seq_cst")))
#else
#define MSL_FENCE(o)
#endif
MSL_FN void atomic_thread_fence(mem_flags, memory_order o, thread_scope = thread_scope_device) MSL_FENCE(o) MSL_BODY((void)o;)

// The types that simd_* take: no bool, no 64-bit integers.
#define MSL_SIMD_INTS(X, ...) X(char, __VA_ARGS__) X(uchar, __VA_ARGS__) X(short, __VA_ARGS__) X(ushort, __VA_ARGS__) X(int, __VA_ARGS__) X(uint, __VA_ARGS__)
#define MSL_SIMD_TYPES(X, ...) MSL_SIMD_INTS(X, __VA_ARGS__) X(float, __VA_ARGS__) X(half, __VA_ARGS__)
#define MSL_SIMD_FOLD(T, f) MSL_FN T simd_##f(T v MSL_SITE) MSL_IS(msl::fold<T, msl::fold_##f>(v, line, column))
#define MSL_SIMD_SCAN(T, f) MSL_FN T simd_prefix_##f(T v MSL_SITE) MSL_IS(msl::scan_##f<T>(v, line, column))
#define MSL_SIMD_MOVE(T, f) MSL_FN T simd_##f(T v, ushort n MSL_SITE) MSL_IS(msl::f<T>(v, n, line, column))
#define MSL_SIMD_FILL(T, f) MSL_FN T simd_shuffle_and_fill_##f(T v, T w, ushort n, ushort m = 32 MSL_SITE) MSL_IS(msl::fill_##f<T>(v, w, n, m, line, column))
#define MSL_SIMD_FIRST(T, f) MSL_FN T simd_##f(T v MSL_SITE) MSL_IS(msl::f<T>(v, line, column))
#define MSL_SIMD_4(X, T, f) X(T, f) X(T##2, f) X(T##3, f) X(T##4, f)
#define MSL_SIMD_ALL(T, ...)                                                                                  \
  MSL_SIMD_4(MSL_SIMD_FOLD, T, sum) MSL_SIMD_4(MSL_SIMD_FOLD, T, product)                                     \
  MSL_SIMD_4(MSL_SIMD_FOLD, T, max) MSL_SIMD_4(MSL_SIMD_FOLD, T, min)                                         \
  MSL_SIMD_4(MSL_SIMD_SCAN, T, inclusive_sum) MSL_SIMD_4(MSL_SIMD_SCAN, T, exclusive_sum)                     \
  MSL_SIMD_4(MSL_SIMD_SCAN, T, inclusive_product) MSL_SIMD_4(MSL_SIMD_SCAN, T, exclusive_product)             \
  MSL_SIMD_4(MSL_SIMD_MOVE, T, shuffle) MSL_SIMD_4(MSL_SIMD_MOVE, T, shuffle_xor)                             \
  MSL_SIMD_4(MSL_SIMD_MOVE, T, shuffle_up) MSL_SIMD_4(MSL_SIMD_MOVE, T, shuffle_down)                         \
  MSL_SIMD_4(MSL_SIMD_MOVE, T, shuffle_rotate_up) MSL_SIMD_4(MSL_SIMD_MOVE, T, shuffle_rotate_down)           \
  MSL_SIMD_4(MSL_SIMD_MOVE, T, broadcast) MSL_SIMD_4(MSL_SIMD_FIRST, T, broadcast_first)                      \
  MSL_SIMD_4(MSL_SIMD_FILL, T, down) MSL_SIMD_4(MSL_SIMD_FILL, T, up)
#define MSL_SIMD_BITS(T, ...) MSL_SIMD_4(MSL_SIMD_FOLD, T, and) MSL_SIMD_4(MSL_SIMD_FOLD, T, or) MSL_SIMD_4(MSL_SIMD_FOLD, T, xor)
MSL_SIMD_TYPES(MSL_SIMD_ALL, 0)
// Scalars of bfloat: Metal takes them, and pipelines have failed on the moves.
#define MSL_SIMD_BFLOAT(f) MSL_FN bfloat simd_##f(bfloat v, ushort n MSL_SITE) MSL_WARN("simd_" #f " of bfloat may fail when the pipeline is made: move its bits as ushort") MSL_IS(msl::f<bfloat>(v, n, line, column))
MSL_SIMD_BFLOAT(shuffle) MSL_SIMD_BFLOAT(shuffle_xor) MSL_SIMD_BFLOAT(shuffle_up) MSL_SIMD_BFLOAT(shuffle_down)
MSL_SIMD_BFLOAT(shuffle_rotate_up) MSL_SIMD_BFLOAT(shuffle_rotate_down) MSL_SIMD_BFLOAT(broadcast)
MSL_SIMD_FOLD(bfloat, sum) MSL_SIMD_FOLD(bfloat, product) MSL_SIMD_FOLD(bfloat, max) MSL_SIMD_FOLD(bfloat, min)
MSL_SIMD_INTS(MSL_SIMD_BITS, 0)

struct simd_vote {
  typedef uint64_t vote_t;
  vote_t msl_bits;
  explicit constexpr simd_vote(vote_t v = 0) : msl_bits(v) {}
  explicit constexpr operator vote_t() const { return msl_bits; }
  bool all() const { return (msl_bits & 0xffffffffu) == 0xffffffffu; }
  bool any() const { return (msl_bits & 0xffffffffu) != 0; }
};
MSL_FN simd_vote simd_ballot(bool v MSL_SITE) MSL_IS(simd_vote(msl::ballot(v, line, column)))
MSL_FN simd_vote simd_active_threads_mask(MSL_SITE1) MSL_IS(simd_vote(msl::ballot(true, line, column)))
MSL_FN bool simd_all(bool v MSL_SITE) MSL_IS(msl::ballot(!v, line, column) == 0)
MSL_FN bool simd_any(bool v MSL_SITE) MSL_IS(msl::ballot(v, line, column) != 0)
MSL_FN bool simd_is_first(MSL_SITE1) MSL_IS(msl::is_first(line, column))
}
