// Vectors of bool. A comparison gives clang's integer vector, which converts.
#pragma once

#define MSL_BOOLVEC(N, FIELDS)                                                                        \
  struct alignas(N == 2 ? 2 : 4) bool##N {                                                            \
    bool FIELDS;                                                                                      \
    bool##N() = default;                                                                              \
    bool##N(bool v) { for (int i = 0; i < N; ++i) (&x)[i] = v; }                                      \
    template <class V, class = typename msl::enable<int(msl::lanes<V>::count) == N && !msl::same<V, bool##N>::value>::type>  \
    bool##N(V v) { for (int i = 0; i < N; ++i) (&x)[i] = v[i] != 0; }                                 \
    template <class A, class B, class... R> bool##N(A a, B b, R... r) {                               \
      static_assert(2 + sizeof...(R) == N, "the vector constructor takes as many components as the vector has"); \
      const bool v[] = {bool(a), bool(b), bool(r)...};                                                \
      for (int i = 0; i < N; ++i) (&x)[i] = v[i];                                                     \
    }                                                                                                 \
    MSL_SELF bool &operator[](int i) { return (&x)[i]; }                                              \
    MSL_SELF const bool &operator[](int i) const { return (&x)[i]; }                                  \
  };                                                                                                  \
  namespace msl { template <> struct lanes<bool##N> { enum { count = N }; typedef bool elem; }; }     \
  MSL_FN bool##N operator!(bool##N a) MSL_EACH(bool##N, N, !a[i])                                     \
  MSL_FN bool##N operator&&(bool##N a, bool##N b) MSL_EACH(bool##N, N, a[i] && b[i])                  \
  MSL_FN bool##N operator||(bool##N a, bool##N b) MSL_EACH(bool##N, N, a[i] || b[i])                  \
  MSL_FN bool##N operator==(bool##N a, bool##N b) MSL_EACH(bool##N, N, a[i] == b[i])                  \
  MSL_FN bool##N operator!=(bool##N a, bool##N b) MSL_EACH(bool##N, N, a[i] != b[i])                  \
  namespace metal {                                                                                   \
  using ::bool##N;                                                                                    \
  MSL_FN bool all(bool##N a) MSL_BODY(for (int i = 0; i < N; ++i) { if (!a[i]) return false; } return true;) \
  MSL_FN bool any(bool##N a) MSL_BODY(for (int i = 0; i < N; ++i) { if (a[i]) return true; } return false;)  \
  }
MSL_BOOLVEC(2, MSL_XY)
MSL_BOOLVEC(3, MSL_XYZ)
MSL_BOOLVEC(4, MSL_XYZW)

namespace metal {
#define MSL_SELECT_BOOL_N(T, N) MSL_FN T##N select(T##N a, T##N b, bool##N c) MSL_EACH(T##N, N, c[i] ? b[i] : a[i])
#define MSL_SELECT_BOOL(T) MSL_SELECT_BOOL_N(T, 2) MSL_SELECT_BOOL_N(T, 3) MSL_SELECT_BOOL_N(T, 4)
MSL_INTS(MSL_SELECT_BOOL)
MSL_FLOATS(MSL_SELECT_BOOL)
}
