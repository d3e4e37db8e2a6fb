// The functions of a SIMD group, written over one rendezvous of its lanes.
#pragma once

// A function over values of all lanes touches no memory of the kernel's: what watches
// accesses need not see it, and sees it many times where it is inlined.
#define MSL_LANES __attribute__((noinline, no_sanitize("coverage")))

namespace msl {
template <class T> struct lane_values {
  T v[32];
  unsigned mask;
  lane_values(T mine, int line, int column) { mask = msl_rt_gather(&mine, sizeof(T), v, line, column); }
  bool has(unsigned lane) const { return lane < 32 && (mask >> lane & 1); }
  // The value of a lane that does not take part is undefined: say so.
  T at(unsigned lane, int line, int column) const {
    if (has(lane)) return v[lane];
    msl_rt_absent(lane, line, column);
    return v[msl_rt_lane()];
  }
};

template <class T> static inline T lanes_max(T a, T b) { return a < b ? b : a; }
template <class T> static inline T lanes_min(T a, T b) { return b < a ? b : a; }
static inline float lanes_max(float a, float b) { return fmax(a, b); }
static inline float lanes_min(float a, float b) { return fmin(a, b); }
static inline half lanes_max(half a, half b) { return half(fmax(a, b)); }
static inline half lanes_min(half a, half b) { return half(fmin(a, b)); }

#define MSL_FOLD(name, expr) struct fold_##name { template <class E> static E of(E a, E b) { return E(expr); } };
MSL_FOLD(sum, a + b)
MSL_FOLD(product, a * b)
MSL_FOLD(max, lanes_max(a, b))
MSL_FOLD(min, lanes_min(a, b))
MSL_FOLD(and, a & b)
MSL_FOLD(or, a | b)
MSL_FOLD(xor, a ^ b)

template <class T, class F> static inline T combine(T a, T b) {
  if constexpr (lanes<T>::count == 1) {
    return F::of(a, b);
  } else {
    T r = {};
    for (int i = 0; i < lanes<T>::count; ++i) r[i] = F::of(typename lanes<T>::elem(a[i]), typename lanes<T>::elem(b[i]));
    return r;
  }
}

// A tree over the lanes that take part, the same for every lane.
template <class T, class F> MSL_LANES static T fold(T mine, int line, int column) {
  lane_values<T> all(mine, line, column);
  for (unsigned step = 1; step < 32; step *= 2) {
    for (unsigned i = 0; i < 32; i += 2 * step) {
      unsigned j = i + step;
      if (!all.has(j)) continue;
      all.v[i] = all.has(i) ? combine<T, F>(all.v[i], all.v[j]) : all.v[j];
      all.mask |= 1u << i;
    }
  }
  return all.v[0];
}

template <class T, class F> MSL_LANES static T scan(T mine, T first, bool inclusive, int line, int column) {
  lane_values<T> all(mine, line, column);
  T sum = first;
  unsigned end = msl_rt_lane() + (inclusive ? 1 : 0);
  for (unsigned i = 0; i < end; ++i) {
    if (all.has(i)) sum = combine<T, F>(sum, all.v[i]);
  }
  return sum;
}
template <class T> static inline T scan_inclusive_sum(T v, int l, int c) { return scan<T, fold_sum>(v, T(0), true, l, c); }
template <class T> static inline T scan_exclusive_sum(T v, int l, int c) { return scan<T, fold_sum>(v, T(0), false, l, c); }
template <class T> static inline T scan_inclusive_product(T v, int l, int c) { return scan<T, fold_product>(v, T(1), true, l, c); }
template <class T> static inline T scan_exclusive_product(T v, int l, int c) { return scan<T, fold_product>(v, T(1), false, l, c); }

template <class T> static inline T shuffle(T v, ushort n, int l, int c) { return lane_values<T>(v, l, c).at(n, l, c); }
template <class T> static inline T broadcast(T v, ushort n, int l, int c) { return lane_values<T>(v, l, c).at(n, l, c); }
template <class T> static inline T shuffle_xor(T v, ushort n, int l, int c) { return lane_values<T>(v, l, c).at(msl_rt_lane() ^ n, l, c); }
// The lanes at the edge keep their own value.
template <class T> static inline T shuffle_up(T v, ushort n, int l, int c) {
  lane_values<T> all(v, l, c);
  return msl_rt_lane() < n ? v : all.at(msl_rt_lane() - n, l, c);
}
template <class T> static inline T shuffle_down(T v, ushort n, int l, int c) {
  lane_values<T> all(v, l, c);
  return msl_rt_lane() + n >= 32 ? v : all.at(msl_rt_lane() + n, l, c);
}
template <class T> static inline T shuffle_rotate_up(T v, ushort n, int l, int c) { return lane_values<T>(v, l, c).at((msl_rt_lane() - n) & 31, l, c); }
template <class T> static inline T shuffle_rotate_down(T v, ushort n, int l, int c) { return lane_values<T>(v, l, c).at((msl_rt_lane() + n) & 31, l, c); }
template <class T> static inline T fill_down(T v, T w, ushort n, ushort m, int l, int c) {
  lane_values<T> all(v, l, c), fill(w, l, c);
  unsigned at = msl_rt_lane() % m + n, base = msl_rt_lane() / m * m;
  return at < m ? all.at(base + at, l, c) : fill.at(base + at - m, l, c);
}
template <class T> static inline T fill_up(T v, T w, ushort n, ushort m, int l, int c) {
  lane_values<T> all(v, l, c), fill(w, l, c);
  unsigned at = msl_rt_lane() % m, base = msl_rt_lane() / m * m;
  return at >= n ? all.at(base + at - n, l, c) : fill.at(base + at + m - n, l, c);
}

template <class T> static inline T broadcast_first(T v, int l, int c) {
  lane_values<T> all(v, l, c);
  return all.v[__builtin_ctz(all.mask)];
}
MSL_LANES static inline ulong ballot(bool v, int l, int c) {
  lane_values<uchar> all(v, l, c);
  ulong bits = 0;
  for (unsigned i = 0; i < 32; ++i) bits |= ulong(all.has(i) && all.v[i]) << i;
  return bits;
}
static inline bool is_first(int l, int c) { return unsigned(__builtin_ctz(lane_values<uchar>(0, l, c).mask)) == msl_rt_lane(); }
}
