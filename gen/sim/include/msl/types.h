// Scalar, vector and packed types.
#pragma once

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
#if defined(MSL_RUN)
typedef _Float16 half;
#endif

#define MSL_VECTOR(T)                                    \
  typedef T T##2 __attribute__((ext_vector_type(2)));    \
  typedef T T##3 __attribute__((ext_vector_type(3)));    \
  typedef T T##4 __attribute__((ext_vector_type(4)));

// Every integer type, and every type of the arithmetic functions.
#define MSL_INTS(X) X(char) X(uchar) X(short) X(ushort) X(int) X(uint) X(long) X(ulong)
#define MSL_FLOATS(X) X(float) X(half)
#define MSL_INTS_AND(X, ...) \
  X(char, __VA_ARGS__) X(uchar, __VA_ARGS__) X(short, __VA_ARGS__) X(ushort, __VA_ARGS__) X(int, __VA_ARGS__) X(uint, __VA_ARGS__) X(long, __VA_ARGS__) X(ulong, __VA_ARGS__)

MSL_INTS(MSL_VECTOR)
MSL_FLOATS(MSL_VECTOR)

namespace msl {
template <class T> struct lanes { enum { count = 1 }; typedef T elem; };
template <class T, int N> struct lanes<T __attribute__((ext_vector_type(N)))> { enum { count = N }; typedef T elem; };
template <class A, class B> struct same { enum { value = false }; };
template <class A> struct same<A, A> { enum { value = true }; };
template <bool C, class T = void> struct enable {};
template <class T> struct enable<true, T> { typedef T type; };
}

// bfloat widens implicitly to float and is made from other types by an
// explicit constructor only.
struct bfloat {
  ushort bits;
  bfloat() = default;
  template <class T> explicit constexpr bfloat(T v) : bits(round(static_cast<float>(v))) {}
  constexpr operator float() const { return widen(bits); }
#if defined(MSL_CHECK)
  constexpr bfloat(const __generic bfloat &) = default;
  bfloat(const __constant bfloat &);
  constexpr operator float() const __constant { return widen(bits); }
#endif
  static constexpr float widen(ushort b) { return __builtin_bit_cast(float, uint(b) << 16); }
  static constexpr ushort round(float f) {
    uint u = __builtin_bit_cast(uint, f);
    if ((u & 0x7fffffffu) > 0x7f800000u) return ushort((u >> 16) | 0x40u);
    return ushort((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
};
static_assert(sizeof(bfloat) == 2, "bfloat is two bytes");

// Two bfloats give a bfloat, bfloat and float a float; bfloat with half is an
// error. The template keeps a float operand from converting to half.
#define MSL_BFLOAT_OP(op)                                                                             \
  inline bfloat operator op(bfloat a, bfloat b) { return bfloat(float(a) op float(b)); }             \
  template <class H> typename msl::enable<msl::same<H, half>::value>::type operator op(bfloat, H) = delete;  \
  template <class H> typename msl::enable<msl::same<H, half>::value>::type operator op(H, bfloat) = delete;  \
  inline thread bfloat &operator op##=(thread bfloat &a, bfloat b) { a = a op b; return a; }
MSL_BFLOAT_OP(+)
MSL_BFLOAT_OP(-)
MSL_BFLOAT_OP(*)
MSL_BFLOAT_OP(/)
#if defined(MSL_CHECK)
#define MSL_BFLOAT_ASSIGN(space, op) \
  inline space bfloat &operator op##=(space bfloat &a, bfloat b) { a = a op b; return a; }
MSL_BFLOAT_ASSIGN(device, +) MSL_BFLOAT_ASSIGN(device, -) MSL_BFLOAT_ASSIGN(device, *) MSL_BFLOAT_ASSIGN(device, /)
MSL_BFLOAT_ASSIGN(threadgroup, +) MSL_BFLOAT_ASSIGN(threadgroup, -) MSL_BFLOAT_ASSIGN(threadgroup, *) MSL_BFLOAT_ASSIGN(threadgroup, /)
#endif
inline bfloat operator-(bfloat a) { return bfloat(-float(a)); }

// What a reference to a member is in a method that takes any space.
#if defined(MSL_CHECK)
#define MSL_SELF __generic
#else
#define MSL_SELF
#endif

namespace msl {
template <class T> struct packed { enum { value = false }; };
// Of two types, the first that is a packed vector.
template <class A, class B, bool = packed<A>::value, bool = packed<B>::value> struct packed_of {};
template <class A, class B, bool Q> struct packed_of<A, B, true, Q> : packed<A> {};
template <class A, class B> struct packed_of<A, B, false, true> : packed<B> {};
}
// Packed vectors have the alignment of their element.
#define MSL_PACKED_BODY(T, N, FIELDS)                                                            \
  struct packed_##T##N {                                                                         \
    T FIELDS;                                                                                    \
    packed_##T##N() = default;                                                                   \
    packed_##T##N(T##N v) { for (int i = 0; i < N; ++i) (*this)[i] = v[i]; }                     \
    operator T##N() const { T##N v = {}; for (int i = 0; i < N; ++i) v[i] = (&x)[i]; return v; }      \
    MSL_SELF T &operator[](int i) { return (&x)[i]; }                                            \
    MSL_SELF const T &operator[](int i) const { return (&x)[i]; }                                \
  };                                                                                             \
  namespace msl { template <> struct lanes<packed_##T##N> { enum { count = N }; typedef T elem; }; } \
  namespace msl { template <> struct packed<packed_##T##N> { enum { value = true }; typedef T elem; typedef T##N vector; }; }
#define MSL_XY x, y
#define MSL_XYZ x, y, z
#define MSL_XYZW x, y, z, w
#define MSL_PACKED(T) MSL_PACKED_BODY(T, 2, MSL_XY) MSL_PACKED_BODY(T, 3, MSL_XYZ) MSL_PACKED_BODY(T, 4, MSL_XYZW)
MSL_INTS(MSL_PACKED)
MSL_FLOATS(MSL_PACKED)

// Vector constructors: any left-to-right mix that fills the vector, or one
// scalar for all lanes. The tool writes msl_make<float4>(…) for float4(…).
namespace msl {
template <class V> inline void fill(thread V &, thread int &) {}
template <class V, class A, class... R> inline void fill(thread V &v, thread int &at, A a, R... rest) {
  if constexpr (lanes<A>::count == 1) {
    v[at++] = static_cast<typename lanes<V>::elem>(a);
  } else {
    for (int i = 0; i < lanes<A>::count; ++i) v[at++] = static_cast<typename lanes<V>::elem>(a[i]);
  }
  fill(v, at, rest...);
}
}
template <class V, class... A> inline V msl_make(A... a) {
  enum { given = (0 + ... + int(msl::lanes<A>::count)), wanted = int(msl::lanes<V>::count) };
  static_assert(int(given) == int(wanted) || given == 0 || (given == 1 && sizeof...(A) == 1), "the vector constructor takes one scalar or exactly as many components as the vector has");
  V v = {};
  int at = 0;
  if constexpr (given == 1) {
    for (; at < wanted;) msl::fill(v, at, a...);
  } else {
    msl::fill(v, at, a...);
  }
  return v;
}

template <class D, class S> inline D as_type(S s) {
  static_assert(sizeof(D) == sizeof(S), "as_type needs two types of one size");
#if defined(MSL_CHECK)
  return D();
#else
  return __builtin_bit_cast(D, s);
#endif
}

namespace metal {
template <class T, int N> using vec = T __attribute__((ext_vector_type(N)));
using ::as_type;
using ::msl_make;
using ::bfloat;
using ::uchar;
using ::uint;
using ::ulong;
using ::ushort;
using ::size_t;
using ::ptrdiff_t;
#if defined(MSL_RUN)
using ::half;
#endif
#define MSL_USING(T) \
  using ::T##2; using ::T##3; using ::T##4; using ::packed_##T##2; using ::packed_##T##3; using ::packed_##T##4;
MSL_INTS(MSL_USING)
MSL_FLOATS(MSL_USING)

template <class A, class B> constexpr constant bool is_same_v = msl::same<A, B>::value;
template <class T> struct remove_const { typedef T type; };
template <class T> struct remove_const<const T> { typedef T type; };
template <bool C, class A, class B> struct conditional { typedef A type; };
template <class A, class B> struct conditional<false, A, B> { typedef B type; };
template <bool C, class A, class B> using conditional_t = typename conditional<C, A, B>::type;
template <bool C, class T = void> using enable_if_t = typename msl::enable<C, T>::type;
}
