// 8 by 8 matrices that a SIMD group holds together: checked, not run.
#pragma once

#if defined(MSL_CHECK)
namespace metal {
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
}
#endif
