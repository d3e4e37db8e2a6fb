// 8 by 8 matrices that the 32 threads of a SIMD group hold together. Each has two
// elements beside each other, at the row and column that Apple's MLX library counts on
// (get_coord in its mma.h); no document of Apple's says where they lie.
#pragma once

#if defined(MSL_RUN)
namespace msl {
static inline unsigned matrix_row() { return (msl_rt_lane() >> 2 & 4) + (msl_rt_lane() >> 1 & 3); }
static inline unsigned matrix_column() { return (msl_rt_lane() >> 1 & 4) + (msl_rt_lane() & 1) * 2; }
// Where the thread's element i lies in memory. The origin is a column and a row.
static inline ulong matrix_place(unsigned i, ulong row_length, ulong2 origin, bool transpose) {
  const ulong r = matrix_row(), c = matrix_column() + i;
  return (origin[1] + (transpose ? c : r)) * row_length + origin[0] + (transpose ? r : c);
}

// d = a b + c. The factors are exact in f32.
template <class D, class A, class B>
MSL_LANES static void matrix_multiply(D *d, const A *a, const B *b, const float *c, int line, int column) {
  float sums[2];
  msl_rt_multiply(sums, float(a[0]), float(a[1]), float(b[0]), float(b[1]), c[0], c[1], line, column);
  for (unsigned i = 0; i < 2; ++i) d[i] = D(sums[i]);
}
}
#endif

namespace metal {
#if defined(MSL_CHECK)
template <class T, int C, int R> struct simdgroup_matrix {
  static_assert(C == 8 && R == 8, "a simdgroup_matrix is 8 by 8");
  static_assert(msl::same<T, float>::value || msl::same<T, half>::value || msl::same<T, bfloat>::value, "a simdgroup_matrix is of float, half or bfloat");
  simdgroup_matrix() = default;
  explicit simdgroup_matrix(T);
  struct elements { T v[2]; MSL_SELF T &operator[](int i) { return v[i]; } };
  MSL_SELF elements &thread_elements();
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
template <class T, int C, int R> simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T);
#define MSL_SIMDGROUP_MEMORY(S) \
  template <class T> void simdgroup_load(thread simdgroup_matrix<T, 8, 8> &, const S T *, ulong = 8, ulong2 = ulong2(0), bool = false); \
  template <class T> void simdgroup_store(simdgroup_matrix<T, 8, 8>, S T *, ulong = 8, ulong2 = ulong2(0), bool = false);
MSL_SIMDGROUP_MEMORY(device)
MSL_SIMDGROUP_MEMORY(threadgroup)
template <class D, class A, class B> void simdgroup_multiply(thread simdgroup_matrix<D, 8, 8> &, thread simdgroup_matrix<A, 8, 8> &, thread simdgroup_matrix<B, 8, 8> &);
template <class D, class A, class B, class C> void simdgroup_multiply_accumulate(thread simdgroup_matrix<D, 8, 8> &, thread simdgroup_matrix<A, 8, 8> &, thread simdgroup_matrix<B, 8, 8> &, thread simdgroup_matrix<C, 8, 8> &);
template <class T> simdgroup_matrix<T, 8, 8> operator*(simdgroup_matrix<T, 8, 8>, simdgroup_matrix<T, 8, 8>);
#else
template <class T, int C, int R> struct simdgroup_matrix {
  static_assert(C == 8 && R == 8, "a simdgroup_matrix is 8 by 8");
  struct elements { T v[2]; T &operator[](int i) { return v[i]; } };
  elements own;
  simdgroup_matrix() = default;
  explicit simdgroup_matrix(T diagonal) {
    for (int i = 0; i < 2; ++i) own.v[i] = msl::matrix_row() == msl::matrix_column() + i ? diagonal : T(0.0f);
  }
  elements &thread_elements() { return own; }
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
template <class T, int C, int R> static inline simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T v) {
  simdgroup_matrix<T, C, R> m;
  m.own.v[0] = m.own.v[1] = v;
  return m;
}
template <class T> static inline void simdgroup_load(simdgroup_matrix<T, 8, 8> &m, const T *from, ulong row = 8, ulong2 origin = ulong2(0), bool transpose = false MSL_SITE) {
  msl_rt_together(line, column);
  for (int i = 0; i < 2; ++i) m.own.v[i] = from[msl::matrix_place(i, row, origin, transpose)];
}
template <class T> static inline void simdgroup_store(simdgroup_matrix<T, 8, 8> m, T *to, ulong row = 8, ulong2 origin = ulong2(0), bool transpose = false MSL_SITE) {
  msl_rt_together(line, column);
  for (int i = 0; i < 2; ++i) to[msl::matrix_place(i, row, origin, transpose)] = m.own.v[i];
}
template <class D, class A, class B> static inline void simdgroup_multiply(simdgroup_matrix<D, 8, 8> &d, simdgroup_matrix<A, 8, 8> &a, simdgroup_matrix<B, 8, 8> &b MSL_SITE) {
  const float zero[2] = {0.0f, 0.0f};
  msl::matrix_multiply(d.own.v, a.own.v, b.own.v, zero, line, column);
}
template <class D, class A, class B, class C> static inline void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> &d, simdgroup_matrix<A, 8, 8> &a, simdgroup_matrix<B, 8, 8> &b, simdgroup_matrix<C, 8, 8> &c MSL_SITE) {
  const float sums[2] = {float(c.own.v[0]), float(c.own.v[1])};
  msl::matrix_multiply(d.own.v, a.own.v, b.own.v, sums, line, column);
}
template <class T> static inline simdgroup_matrix<T, 8, 8> operator*(simdgroup_matrix<T, 8, 8> a, simdgroup_matrix<T, 8, 8> b) {
  simdgroup_matrix<T, 8, 8> d;
  simdgroup_multiply(d, a, b);
  return d;
}
#endif
}
