// The functions of quad groups: four neighbouring lanes of a SIMD group.
#pragma once

namespace metal {
#define MSL_QUAD_TYPES(X, ...) MSL_SIMD_TYPES(X, __VA_ARGS__) X(long, __VA_ARGS__) X(ulong, __VA_ARGS__)
#define MSL_QUAD_FOLD(T, f) MSL_FN T quad_##f(T v MSL_SITE) MSL_IS(msl::quad_fold<T, msl::fold_##f>(v, line, column))
#define MSL_QUAD_SCAN(T, f, op, from) \
  MSL_FN T quad_prefix_inclusive_##f(T v MSL_SITE) MSL_IS(msl::quad_scan<T, msl::fold_##op>(v, T(from), true, line, column)) \
  MSL_FN T quad_prefix_exclusive_##f(T v MSL_SITE) MSL_IS(msl::quad_scan<T, msl::fold_##op>(v, T(from), false, line, column))
#define MSL_QUAD_SCANS(T, f) MSL_QUAD_SCAN(T, sum, sum, 0) MSL_QUAD_SCAN(T, product, product, 1)
#define MSL_QUAD_MOVE(T, f) MSL_FN T quad_##f(T v, ushort n MSL_SITE) MSL_IS(msl::quad_move<T>(v, msl::quad_##f(n), line, column))
#define MSL_QUAD_FILL(T, f) MSL_FN T quad_shuffle_and_fill_##f(T v, T w, ushort n, ushort m = 4 MSL_SITE) MSL_IS(msl::fill_##f<T>(v, w, n, m, line, column))
#define MSL_QUAD_FIRST(T, f) MSL_FN T quad_broadcast_first(T v MSL_SITE) MSL_IS(msl::quad_first<T>(v, line, column))
#define MSL_QUAD_ALL(T, ...) \
  MSL_SIMD_4(MSL_QUAD_FOLD, T, sum) MSL_SIMD_4(MSL_QUAD_FOLD, T, product) MSL_SIMD_4(MSL_QUAD_FOLD, T, max) MSL_SIMD_4(MSL_QUAD_FOLD, T, min) \
  MSL_SIMD_4(MSL_QUAD_SCANS, T, 0) MSL_SIMD_4(MSL_QUAD_FIRST, T, 0) \
  MSL_SIMD_4(MSL_QUAD_MOVE, T, broadcast) MSL_SIMD_4(MSL_QUAD_MOVE, T, shuffle) MSL_SIMD_4(MSL_QUAD_MOVE, T, shuffle_xor) \
  MSL_SIMD_4(MSL_QUAD_MOVE, T, shuffle_up) MSL_SIMD_4(MSL_QUAD_MOVE, T, shuffle_down) \
  MSL_SIMD_4(MSL_QUAD_MOVE, T, shuffle_rotate_up) MSL_SIMD_4(MSL_QUAD_MOVE, T, shuffle_rotate_down)           \
  MSL_SIMD_4(MSL_QUAD_FILL, T, down) MSL_SIMD_4(MSL_QUAD_FILL, T, up)
#define MSL_QUAD_BITS(T, ...) MSL_SIMD_4(MSL_QUAD_FOLD, T, and) MSL_SIMD_4(MSL_QUAD_FOLD, T, or) MSL_SIMD_4(MSL_QUAD_FOLD, T, xor)
#if defined(MSL_RUN)
}
namespace msl {
static inline unsigned quad_lane() { return msl_rt_lane() & 3; }
template <class T, class F> static inline T quad_scan(T mine, T first, bool inclusive, int line, int column) {
  lane_values<T> all(mine, line, column);
  unsigned base = msl_rt_lane() & ~3u, end = quad_lane() + (inclusive ? 1 : 0);
  T sum = first;
  for (unsigned i = 0; i < end; ++i)
    if (all.has(base + i)) sum = combine<T, F>(sum, all.v[base + i]);
  return sum;
}
template <class T, class F> static inline T quad_fold(T mine, int line, int column) {
  lane_values<T> all(mine, line, column);
  unsigned base = msl_rt_lane() & ~3u;
  T sum = mine;
  bool any = false;
  for (unsigned i = base; i < base + 4; ++i) {
    if (!all.has(i)) continue;
    sum = any ? combine<T, F>(sum, all.v[i]) : all.v[i];
    any = true;
  }
  return sum;
}
// Each gives the lane of the quad to read; the lanes at the edge read their own.
static inline unsigned quad_broadcast(unsigned n) { return n & 3; }
static inline unsigned quad_shuffle(unsigned n) { return n & 3; }
static inline unsigned quad_shuffle_xor(unsigned n) { return quad_lane() ^ n; }
static inline unsigned quad_shuffle_up(unsigned n) { return quad_lane() < n ? quad_lane() : quad_lane() - n; }
static inline unsigned quad_shuffle_down(unsigned n) { return quad_lane() + n > 3 ? quad_lane() : quad_lane() + n; }
static inline unsigned quad_shuffle_rotate_up(unsigned n) { return (quad_lane() - n) & 3; }
static inline unsigned quad_shuffle_rotate_down(unsigned n) { return (quad_lane() + n) & 3; }
template <class T> static inline T quad_move(T v, unsigned from, int l, int c) { return lane_values<T>(v, l, c).at((msl_rt_lane() & ~3u) + from, l, c); }
template <class T> static inline T quad_first(T v, int l, int c) {
  lane_values<T> all(v, l, c);
  unsigned base = msl_rt_lane() & ~3u;
  return all.v[base + __builtin_ctz(all.mask >> base & 15)];
}
static inline uint quad_votes(bool v, int l, int c) { return uint(ballot(v, l, c) >> (msl_rt_lane() & ~3u)) & 15; }
}
namespace metal {
#endif
MSL_QUAD_TYPES(MSL_QUAD_ALL, 0)
MSL_SIMD_INTS(MSL_QUAD_BITS, 0)
MSL_QUAD_BITS(long) MSL_QUAD_BITS(ulong)

struct quad_vote {
  typedef ushort vote_t;
  vote_t msl_bits;
  explicit constexpr quad_vote(vote_t v = 0) : msl_bits(v) {}
  explicit constexpr operator vote_t() const { return msl_bits; }
  bool all() const { return msl_bits == 15; }
  bool any() const { return msl_bits != 0; }
};
MSL_FN quad_vote quad_ballot(bool v MSL_SITE) MSL_IS(quad_vote(ushort(msl::quad_votes(v, line, column))))
MSL_FN quad_vote quad_active_threads_mask(MSL_SITE1) MSL_IS(quad_vote(ushort(msl::quad_votes(true, line, column))))
MSL_FN bool quad_all(bool v MSL_SITE) MSL_IS(msl::quad_votes(!v, line, column) == 0)
MSL_FN bool quad_any(bool v MSL_SITE) MSL_IS(msl::quad_votes(v, line, column) != 0)
MSL_FN bool quad_is_first(MSL_SITE1) MSL_IS(unsigned(__builtin_ctz(msl::quad_votes(true, line, column))) == msl::quad_lane())
}
