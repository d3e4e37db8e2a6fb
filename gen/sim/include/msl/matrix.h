// Matrices of C columns with R rows.
#pragma once

namespace metal {
template <class T, int C, int R> struct matrix {
  typedef vec<T, R> column;
  column columns[C];
  matrix() = default;
  explicit matrix(T diagonal) {
    for (int c = 0; c < C; ++c)
      for (int r = 0; r < R; ++r) columns[c][r] = c == r ? diagonal : T(0);
  }
  template <class A, class B, class... Rest> matrix(A a, B b, Rest... rest) {
    constexpr bool whole = 2 + sizeof...(Rest) == C && int(msl::lanes<A>::count) == R;
    static_assert(whole || (2 + sizeof...(Rest) == C * R && int(msl::lanes<A>::count) == 1), "a matrix is made of its columns or of all its elements");
    if constexpr (whole) {
      const column v[] = {a, b, rest...};
      for (int c = 0; c < C; ++c) columns[c] = v[c];
    } else {
      const T v[] = {T(a), T(b), T(rest)...};
      for (int i = 0; i < C * R; ++i) columns[i / R][i % R] = v[i];
    }
  }
#if defined(MSL_CHECK)
  matrix(const __generic matrix &) = default;
  matrix(const __constant matrix &);
  const __constant column &operator[](int c) const __constant { return columns[c]; }
#endif
  MSL_SELF column &operator[](int c) { return columns[c]; }
  MSL_SELF const column &operator[](int c) const { return columns[c]; }
};

#define MSL_MATRIX_EACH(E) { matrix<T, C, R> m; for (int c = 0; c < C; ++c) m[c] = (E); return m; }
template <class T, int C, int R> inline matrix<T, C, R> operator+(matrix<T, C, R> a, matrix<T, C, R> b) MSL_MATRIX_EACH(a[c] + b[c])
template <class T, int C, int R> inline matrix<T, C, R> operator-(matrix<T, C, R> a, matrix<T, C, R> b) MSL_MATRIX_EACH(a[c] - b[c])
template <class T, int C, int R> inline matrix<T, C, R> operator*(matrix<T, C, R> a, T b) MSL_MATRIX_EACH(a[c] * b)
template <class T, int C, int R> inline matrix<T, C, R> operator*(T b, matrix<T, C, R> a) MSL_MATRIX_EACH(a[c] * b)
// A vector is a column on the right and a row on the left.
template <class T, int C, int R> inline vec<T, R> operator*(matrix<T, C, R> a, vec<T, C> v) {
  vec<T, R> s = a[0] * v[0];
  for (int c = 1; c < C; ++c) s += a[c] * v[c];
  return s;
}
template <class T, int C, int R> inline vec<T, C> operator*(vec<T, R> v, matrix<T, C, R> a) {
  vec<T, C> s = {};
  for (int c = 0; c < C; ++c) s[c] = dot(v, a[c]);
  return s;
}
template <class T, int K, int R, int C> inline matrix<T, C, R> operator*(matrix<T, K, R> a, matrix<T, C, K> b) MSL_MATRIX_EACH(a * b[c])
template <class T, int C, int R> inline matrix<T, R, C> transpose(matrix<T, C, R> a) {
  matrix<T, R, C> m;
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r) m[r][c] = a[c][r];
  return m;
}
template <class T> inline T determinant(matrix<T, 2, 2> a) { return a[0][0] * a[1][1] - a[1][0] * a[0][1]; }
template <class T> inline T determinant(matrix<T, 3, 3> a) { return dot(a[0], cross(a[1], a[2])); }
template <class T> inline T determinant(matrix<T, 4, 4> a) {
  T sum = T(0);
  for (int k = 0; k < 4; ++k) {
    matrix<T, 3, 3> minor;
    for (int c = 1; c < 4; ++c)
      for (int r = 0, to = 0; r < 4; ++r)
        if (r != k) minor[c - 1][to++] = a[c][r];
    sum += (k % 2 == 0 ? a[0][k] : -a[0][k]) * determinant(minor);
  }
  return sum;
}
}
#define MSL_MATRIX(T, C, R) \
  typedef metal::matrix<T, C, R> T##C##x##R; \
  namespace metal { using ::T##C##x##R; }
#define MSL_MATRIX_C(T, C) MSL_MATRIX(T, C, 2) MSL_MATRIX(T, C, 3) MSL_MATRIX(T, C, 4)
#define MSL_MATRIX_T(T) MSL_MATRIX_C(T, 2) MSL_MATRIX_C(T, 3) MSL_MATRIX_C(T, 4)
MSL_FLOATS(MSL_MATRIX_T)
