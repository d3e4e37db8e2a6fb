// Macros of <metal_limits> and <metal_math>, and numeric_limits.
#pragma once

#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define HUGE_VALF (__builtin_inff())
#define MAXFLOAT 3.40282347e+38f
#define FLT_MAX 3.40282347e+38f
#define FLT_MIN 1.17549435e-38f
#define FLT_EPSILON 1.19209290e-7f
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_RADIX 2
#define FLT_MAX_EXP 128
#define FLT_MIN_EXP (-125)
#define MAXHALF (half(65504.0f))
#define HALF_MAX (half(65504.0f))
#define HALF_MIN (half(6.10351562e-05f))
#define HALF_EPSILON (half(9.76562500e-04f))
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-9223372036854775807L - 1L)
#define ULONG_MAX 18446744073709551615uL

#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.43429448190325182765f
#define M_LN2_F 0.69314718055994530942f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.78539816339744830962f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_PI_F 0.63661977236758134308f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.70710678118654752440f
#define M_E_H (half(M_E_F))
#define M_LOG2E_H (half(M_LOG2E_F))
#define M_LN2_H (half(M_LN2_F))
#define M_PI_H (half(M_PI_F))
#define M_SQRT2_H (half(M_SQRT2_F))

namespace metal {
template <class T> struct numeric_limits;
#define MSL_LIMITS(T, LOW, MIN, MAX)                                  \
  template <> struct numeric_limits<T> {                              \
    static constexpr T lowest() { return T(LOW); }                    \
    static constexpr T min() { return T(MIN); }                       \
    static constexpr T max() { return T(MAX); }                       \
  };
#define MSL_FLOAT_LIMITS(T, MIN, MAX, EPS)                            \
  template <> struct numeric_limits<T> {                              \
    static constexpr T lowest() { return T(-(MAX)); }                 \
    static constexpr T min() { return T(MIN); }                       \
    static constexpr T max() { return T(MAX); }                       \
    static constexpr T epsilon() { return T(EPS); }                   \
    static constexpr T infinity() { return T(__builtin_inff()); }     \
    static constexpr T quiet_NaN() { return T(__builtin_nanf("")); }  \
  };
MSL_LIMITS(char, CHAR_MIN, CHAR_MIN, CHAR_MAX)
MSL_LIMITS(uchar, 0, 0, UCHAR_MAX)
MSL_LIMITS(short, SHRT_MIN, SHRT_MIN, SHRT_MAX)
MSL_LIMITS(ushort, 0, 0, USHRT_MAX)
MSL_LIMITS(int, INT_MIN, INT_MIN, INT_MAX)
MSL_LIMITS(uint, 0, 0, UINT_MAX)
MSL_LIMITS(long, LONG_MIN, LONG_MIN, LONG_MAX)
MSL_LIMITS(ulong, 0, 0, ULONG_MAX)
MSL_FLOAT_LIMITS(float, FLT_MIN, FLT_MAX, FLT_EPSILON)
MSL_FLOAT_LIMITS(half, 6.10351562e-05f, 65504.0f, 9.76562500e-04f)
}
