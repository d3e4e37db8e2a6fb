// Vectors of bfloat: components, arithmetic, conversion. They have no swizzles.
#pragma once

#define MSL_BFLOATVEC_OP(N, op) \
  inline bfloat##N operator op(bfloat##N a, bfloat##N b) { bfloat##N r; for (int i = 0; i < N; ++i) r[i] = a[i] op b[i]; return r; }
#define MSL_BFLOATVEC(N, FIELDS)                                                                  \
  struct alignas(N == 2 ? 4 : 8) bfloat##N {                                                      \
    bfloat FIELDS;                                                                                \
    bfloat##N() = default;                                                                        \
    bfloat##N(bfloat v) { for (int i = 0; i < N; ++i) (&x)[i] = v; }                              \
    explicit bfloat##N(float##N v) { for (int i = 0; i < N; ++i) (&x)[i] = bfloat(v[i]); }        \
    template <class... R> bfloat##N(bfloat a, bfloat b, R... r) {                                 \
      static_assert(2 + sizeof...(R) == N, "the vector constructor takes as many components as the vector has"); \
      const bfloat v[] = {a, b, r...};                                                            \
      for (int i = 0; i < N; ++i) (&x)[i] = v[i];                                                 \
    }                                                                                             \
    operator float##N() const { float##N r = {}; for (int i = 0; i < N; ++i) r[i] = float((&x)[i]); return r; } \
    MSL_SELF bfloat &operator[](int i) { return (&x)[i]; }                                        \
    MSL_SELF const bfloat &operator[](int i) const { return (&x)[i]; }                            \
  };                                                                                              \
  namespace msl { template <> struct lanes<bfloat##N> { enum { count = N }; typedef bfloat elem; }; } \
  MSL_BFLOATVEC_OP(N, +) MSL_BFLOATVEC_OP(N, -) MSL_BFLOATVEC_OP(N, *) MSL_BFLOATVEC_OP(N, /)     \
  namespace metal { using ::bfloat##N; }
MSL_BFLOATVEC(2, MSL_XY)
MSL_BFLOATVEC(3, MSL_XYZ)
MSL_BFLOATVEC(4, MSL_XYZW)
