// The scalar functions behind the overloads, on float and on any integer.
// libm is at least as exact as Metal's precise:: functions.
#pragma once

namespace msl {
#define MSL_LIBM1(name) static inline float name(float x) { return __builtin_##name##f(x); }
#define MSL_LIBM2(name) static inline float name(float x, float y) { return __builtin_##name##f(x, y); }
MSL_LIBM1(acos) MSL_LIBM1(acosh) MSL_LIBM1(asin) MSL_LIBM1(asinh) MSL_LIBM1(atan) MSL_LIBM1(atanh)
MSL_LIBM1(ceil) MSL_LIBM1(cos) MSL_LIBM1(cosh) MSL_LIBM1(exp) MSL_LIBM1(exp2) MSL_LIBM1(fabs)
MSL_LIBM1(floor) MSL_LIBM1(log) MSL_LIBM1(log2) MSL_LIBM1(log10) MSL_LIBM1(rint) MSL_LIBM1(round)
MSL_LIBM1(sin) MSL_LIBM1(sinh) MSL_LIBM1(sqrt) MSL_LIBM1(tan) MSL_LIBM1(tanh) MSL_LIBM1(trunc)
MSL_LIBM2(atan2) MSL_LIBM2(fmax) MSL_LIBM2(fmin) MSL_LIBM2(fmod) MSL_LIBM2(pow) MSL_LIBM2(copysign)
MSL_LIBM2(fdim) MSL_LIBM2(nextafter)

static inline bool isnan(float x) { return __builtin_isnan(x); }
static inline bool isinf(float x) { return __builtin_isinf(x); }
static inline bool isfinite(float x) { return __builtin_isfinite(x); }
static inline bool isnormal(float x) { return __builtin_isnormal(x); }
static inline bool isnormal(half x) { return isfinite(x) && fabs(x) >= 6.10351562e-05f; }
static inline bool signbit(float x) { return __builtin_signbit(x); }
static inline bool finite(float x) { return isfinite(x); }

static inline float abs(float x) { return fabs(x); }
static inline float max(float x, float y) { return fmax(x, y); }
static inline float min(float x, float y) { return fmin(x, y); }
static inline float divide(float x, float y) { return x / y; }
static inline float rsqrt(float x) { return float(1.0 / __builtin_sqrt(double(x))); }
static inline float exp10(float x) { return float(__builtin_pow(10.0, double(x))); }
static inline float powr(float x, float y) { return x < 0.0f ? __builtin_nanf("") : pow(x, y); }
static inline float saturate(float x) { return fmin(fmax(x, 0.0f), 1.0f); }
static inline float clamp(float x, float lo, float hi) { return fmin(fmax(x, lo), hi); }
static inline float mix(float x, float y, float a) { return x + (y - x) * a; }
static inline float step(float edge, float x) { return x < edge ? 0.0f : 1.0f; }
static inline float sign(float x) { return isnan(x) ? 0.0f : x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }
static inline float smoothstep(float a, float b, float x) {
  float t = clamp((x - a) / (b - a), 0.0f, 1.0f);
  return t * t * (3.0f - 2.0f * t);
}
static inline float fract(float x) { return isinf(x) ? 0.0f : fmin(x - floor(x), 0x1.fffffep-1f); }
// A half is its bits, which count up away from zero.
static inline half nextafter_half(half a, half b) {
  if (isnan(float(a)) || isnan(float(b))) return a + b;
  if (a == b) return b;
  const half zero = half(0.0f);
  ushort bits = __builtin_bit_cast(ushort, a);
  if (a == zero) bits = b > a ? 1 : 0x8001;
  else bits = ushort((a < b) == (a > zero) ? bits + 1 : bits - 1);
  return __builtin_bit_cast(half, bits);
}
static inline float inf_fract(float x) { return isnan(x) ? x : copysign(0.0f, x); }
static inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline half fma_half(half a, half b, half c) { return half(__builtin_fma(double(a), double(b), double(c))); }
static inline float fmax3(float a, float b, float c) { return fmax(a, fmax(b, c)); }
static inline float fmin3(float a, float b, float c) { return fmin(a, fmin(b, c)); }
static inline float fmedian3(float a, float b, float c) { return fmax(fmin(a, b), fmin(fmax(a, b), c)); }
static inline float max3(float a, float b, float c) { return fmax3(a, b, c); }
static inline float min3(float a, float b, float c) { return fmin3(a, b, c); }
static inline float median3(float a, float b, float c) { return fmedian3(a, b, c); }
static inline float ldexp(float x, int k) { return __builtin_ldexpf(x, k); }
static inline float frexp(float x, int &k) { k = 0; return __builtin_frexpf(x, &k); }
static inline int ilogb(float x) { return __builtin_ilogbf(x); }

// sin, cos and tan of pi*x, exact where x is a multiple of one half.
static inline float sinpi(float x) {
  double r = double(x) - 2.0 * __builtin_floor(double(x) * 0.5);
  if (r == 0.0 || r == 1.0) return 0.0f;
  return float(__builtin_sin(3.14159265358979323846 * r));
}
static inline float cospi(float x) {
  double r = double(x) - 2.0 * __builtin_floor(double(x) * 0.5);
  if (r == 0.5 || r == 1.5) return 0.0f;
  return float(__builtin_cos(3.14159265358979323846 * r));
}
static inline float tanpi(float x) { return sinpi(x) / cospi(x); }

template <class T> struct int_of;
#define MSL_INT_OF(T, U, W, B) \
  template <> struct int_of<T> { typedef U bits; typedef W wide; enum { width = B, is_signed = T(-1) < T(0) }; };
MSL_INT_OF(char, uchar, int, 8)
MSL_INT_OF(uchar, uchar, int, 8)
MSL_INT_OF(short, ushort, int, 16)
MSL_INT_OF(ushort, ushort, int, 16)
MSL_INT_OF(int, uint, long, 32)
MSL_INT_OF(uint, uint, long, 32)
MSL_INT_OF(long, ulong, __int128, 64)
MSL_INT_OF(ulong, ulong, __int128, 64)
#define MSL_INT template <class T, class U = typename int_of<T>::bits, class W = typename int_of<T>::wide, int B = int_of<T>::width> static inline
template <class T> static inline T lowest() { return int_of<T>::is_signed ? T(typename int_of<T>::bits(1) << (int_of<T>::width - 1)) : T(0); }
template <class T> static inline T highest() { return T(~lowest<T>()); }
template <class T, class W> static inline T saturated(W v) { return v < W(lowest<T>()) ? lowest<T>() : v > W(highest<T>()) ? highest<T>() : T(v); }

MSL_INT T abs_int(T a) { return a < T(0) ? T(U(0) - U(a)) : a; }
MSL_INT T clz_int(T a) { int n = 0; for (; n < B && !(U(a) >> (B - 1 - n) & 1); ++n) {} return T(n); }
MSL_INT T ctz_int(T a) { int n = 0; for (; n < B && !(U(a) >> n & 1); ++n) {} return T(n); }
MSL_INT T popcount_int(T a) { return T(__builtin_popcountl(ulong(U(a)))); }
MSL_INT T reverse_bits_int(T a) { U r = 0; for (int i = 0; i < B; ++i) r = U(r | ((U(a) >> i & 1) << (B - 1 - i))); return T(r); }
MSL_INT T addsat_int(T a, T b) { return saturated<T>(W(W(a) + W(b))); }
MSL_INT T subsat_int(T a, T b) { return saturated<T>(W(W(a) - W(b))); }
MSL_INT T hadd_int(T a, T b) { return T((W(a) + W(b)) >> 1); }
MSL_INT T rhadd_int(T a, T b) { return T((W(a) + W(b) + 1) >> 1); }
MSL_INT T max_int(T a, T b) { return a < b ? b : a; }
MSL_INT T min_int(T a, T b) { return b < a ? b : a; }
MSL_INT T mulhi_int(T a, T b) {
  if constexpr (int_of<T>::is_signed) return T((__int128(a) * __int128(b)) >> B);
  return T((static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)) >> B);
}
MSL_INT T rotate_int(T a, T b) { int n = int(U(b) % B); return n == 0 ? a : T(U(U(a) << n) | U(U(a) >> (B - n))); }
MSL_INT T clamp_int(T a, T lo, T hi) { return min_int(max_int(a, lo), hi); }
MSL_INT T madhi_int(T a, T b, T c) { return T(U(mulhi_int(a, b)) + U(c)); }
MSL_INT T madsat_int(T a, T b, T c) {
  if constexpr (B < 64) return saturated<T>(__int128(a) * __int128(b) + __int128(c));
  T p;
  if (!__builtin_mul_overflow(a, b, &p) && !__builtin_add_overflow(p, c, &p)) return p;
  bool negative = (a < 0) != (b < 0);
  return int_of<T>::is_signed && negative ? lowest<T>() : highest<T>();
}
MSL_INT T max3_int(T a, T b, T c) { return max_int(a, max_int(b, c)); }
MSL_INT T min3_int(T a, T b, T c) { return min_int(a, min_int(b, c)); }
MSL_INT T median3_int(T a, T b, T c) { return max_int(min_int(a, b), min_int(max_int(a, b), c)); }
MSL_INT T extract_bits_int(T a, uint at, uint n) {
  if (n == 0) return T(0);
  return T(T(U(U(a) << (B - at - n))) >> (B - n));
}
MSL_INT T insert_bits_int(T a, T b, uint at, uint n) {
  if (n == 0) return a;
  U mask = U(U(~U(0)) >> (B - n) << at);
  return T((U(a) & ~mask) | (U(U(b) << at) & mask));
}
static inline int mul24_int(int a, int b) { return int(uint(int(uint(a) << 8) >> 8) * uint(int(uint(b) << 8) >> 8)); }
static inline uint mul24_int(uint a, uint b) { return (a & 0xffffffu) * (b & 0xffffffu); }
}
