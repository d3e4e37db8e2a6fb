// The functions on half and float, scalar and vector, as plain overloads.
#pragma once

namespace metal {
#define MSL_F1V(T, N, f) MSL_FN T##N f(T##N a) MSL_EACH(T##N, N, f(a[i]))
#define MSL_F1T(T, f) MSL_FN T f(T a) MSL_IS(T(msl::f(float(a)))) MSL_F1V(T, 2, f) MSL_F1V(T, 3, f) MSL_F1V(T, 4, f)
#define MSL_F1(f) MSL_F1T(float, f) MSL_F1T(half, f)
#define MSL_F1F(f) MSL_F1T(float, f)

#define MSL_F2V(T, N, f) MSL_FN T##N f(T##N a, T##N b) MSL_EACH(T##N, N, f(a[i], b[i]))
#define MSL_F2T(T, f) MSL_FN T f(T a, T b) MSL_IS(T(msl::f(float(a), float(b)))) MSL_F2V(T, 2, f) MSL_F2V(T, 3, f) MSL_F2V(T, 4, f)
#define MSL_F2(f) MSL_F2T(float, f) MSL_F2T(half, f)
#define MSL_F2F(f) MSL_F2T(float, f)

#define MSL_F3V(T, N, f) MSL_FN T##N f(T##N a, T##N b, T##N c) MSL_EACH(T##N, N, f(a[i], b[i], c[i]))
#define MSL_F3T(T, f) MSL_FN T f(T a, T b, T c) MSL_IS(T(msl::f(float(a), float(b), float(c)))) MSL_F3V(T, 2, f) MSL_F3V(T, 3, f) MSL_F3V(T, 4, f)
#define MSL_F3(f) MSL_F3T(float, f) MSL_F3T(half, f)
#define MSL_F3F(f) MSL_F3T(float, f)

// Those that exist in metal::, fast:: and precise::.
#define MSL_MATH1(X) X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(ceil) X(cos) X(cosh) X(cospi) X(exp) X(exp2) X(exp10) X(fabs) X(floor) X(fract) X(log) X(log2) X(log10) X(rint) X(round) X(rsqrt) X(sin) X(sinh) X(sinpi) X(sqrt) X(tan) X(tanpi) X(trunc) X(abs) X(saturate)
#define MSL_MATH2(X) X(atan2) X(divide) X(fmax) X(fmin) X(fmod) X(max) X(min) X(pow) X(powr)
#define MSL_MATH3(X) X(clamp) X(fmedian3) X(fmax3) X(fmin3) X(max3) X(min3) X(median3)

MSL_MATH1(MSL_F1)
MSL_MATH2(MSL_F2)
MSL_MATH3(MSL_F3)
#define MSL_TANH(T, W) \
  MSL_FN T tanh(T a) W MSL_IS(T(msl::tanh(float(a)))) MSL_TANH_V(T, 2, W) MSL_TANH_V(T, 3, W) MSL_TANH_V(T, 4, W)
#define MSL_TANH_V(T, N, W) MSL_FN T##N tanh(T##N a) W MSL_EACH(T##N, N, tanh(a[i]))
MSL_TANH(float, MSL_WARN("fast math: tanh of a large float is NaN under fast math: write precise::tanh"))
MSL_TANH(half, MSL_WARN("tanh of half is wrong on AMD GPUs: write half(precise::tanh(float(x)))"))
MSL_F1(sign)
MSL_F2(copysign)
MSL_F2(fdim)
MSL_F2(step)
MSL_F3(mix)
MSL_F3(smoothstep)
MSL_FN float fma(float a, float b, float c) MSL_IS(msl::fma(a, b, c))
MSL_FN half fma(half a, half b, half c) MSL_IS(msl::fma_half(a, b, c))
MSL_F3V(float, 2, fma) MSL_F3V(float, 3, fma) MSL_F3V(float, 4, fma)
MSL_F3V(half, 2, fma) MSL_F3V(half, 3, fma) MSL_F3V(half, 4, fma)
MSL_FN float nextafter(float a, float b) MSL_IS(msl::nextafter(a, b))
MSL_FN half nextafter(half a, half b) MSL_IS(msl::nextafter_half(a, b))
MSL_F2V(float, 2, nextafter) MSL_F2V(float, 3, nextafter) MSL_F2V(float, 4, nextafter)
MSL_F2V(half, 2, nextafter) MSL_F2V(half, 3, nextafter) MSL_F2V(half, 4, nextafter)

// Out parameters are references to thread.
#define MSL_OUT_V(T, U, N, f) MSL_FN T##N f(T##N a, thread U##N &b) MSL_BODY(T##N r = {}; for (int i = 0; i < N; ++i) { U o; r[i] = f(a[i], o); b[i] = o; } return r;)
#define MSL_SINCOS(T) MSL_FN T sincos(T a, thread T &c) MSL_BODY(c = cos(a); return sin(a);) MSL_OUT_V(T, T, 2, sincos) MSL_OUT_V(T, T, 3, sincos) MSL_OUT_V(T, T, 4, sincos)
#define MSL_MODF(T) MSL_FN T modf(T a, thread T &w) MSL_BODY(w = trunc(a); return msl::finite(float(a)) ? T(msl::copysign(float(a - w), float(a))) : T(msl::inf_fract(float(a)));) MSL_OUT_V(T, T, 2, modf) MSL_OUT_V(T, T, 3, modf) MSL_OUT_V(T, T, 4, modf)
#define MSL_FREXP(T) MSL_FN T frexp(T a, thread int &e) MSL_BODY(int k; T r = T(msl::frexp(float(a), k)); e = k; return r;) MSL_OUT_V(T, int, 2, frexp) MSL_OUT_V(T, int, 3, frexp) MSL_OUT_V(T, int, 4, frexp)
#define MSL_LDEXP_V(T, N) MSL_FN T##N ldexp(T##N a, int##N k) MSL_EACH(T##N, N, ldexp(a[i], k[i]))
#define MSL_LDEXP(T) MSL_FN T ldexp(T a, int k) MSL_IS(T(msl::ldexp(float(a), k))) MSL_LDEXP_V(T, 2) MSL_LDEXP_V(T, 3) MSL_LDEXP_V(T, 4)
#define MSL_ILOGB_V(T, N) MSL_FN int##N ilogb(T##N a) MSL_EACH(int##N, N, ilogb(a[i]))
#define MSL_ILOGB(T) MSL_FN int ilogb(T a) MSL_IS(msl::ilogb(float(a))) MSL_ILOGB_V(T, 2) MSL_ILOGB_V(T, 3) MSL_ILOGB_V(T, 4)
MSL_FLOATS(MSL_SINCOS)
MSL_FLOATS(MSL_MODF)
MSL_FLOATS(MSL_FREXP)
MSL_FLOATS(MSL_LDEXP)
MSL_FLOATS(MSL_ILOGB)

namespace fast {
MSL_TANH(float, MSL_WARN("tanh of a large float is NaN under fast math: write precise::tanh"))
MSL_MATH1(MSL_F1F)
MSL_MATH2(MSL_F2F)
MSL_MATH3(MSL_F3F)
MSL_SINCOS(float)
MSL_LDEXP(float)
}
namespace precise {
MSL_TANH(float, )
MSL_MATH1(MSL_F1F)
MSL_MATH2(MSL_F2F)
MSL_MATH3(MSL_F3F)
MSL_SINCOS(float)
MSL_LDEXP(float)
}

// Relational functions: bool for scalars; on vectors an integer vector as wide
// as the operand, which all, any and select take.
#define MSL_NAN MSL_WARN("fast math: NaN")
#define MSL_REL1_V(T, I, N, f) MSL_FN I##N f(T##N a) MSL_NAN_##f MSL_EACH(I##N, N, f(a[i]) ? I(-1) : I(0))
#define MSL_REL1_T(T, I, f) MSL_FN bool f(T a) MSL_NAN_##f MSL_IS(msl::f(float(a))) MSL_REL1_V(T, I, 2, f) MSL_REL1_V(T, I, 3, f) MSL_REL1_V(T, I, 4, f)
#define MSL_REL1(f) MSL_REL1_T(float, int, f) MSL_FN bool f(half a) MSL_NAN_##f MSL_IS(msl::f(a)) MSL_REL1_V(half, short, 2, f) MSL_REL1_V(half, short, 3, f) MSL_REL1_V(half, short, 4, f) MSL_FN bool f(bfloat a) MSL_NAN_##f MSL_IS(msl::f(float(a)))
#define MSL_NAN_isfinite MSL_NAN
#define MSL_NAN_isinf MSL_NAN
#define MSL_NAN_isnan MSL_NAN
#define MSL_NAN_isnormal MSL_NAN
#define MSL_NAN_signbit
MSL_REL1(isfinite)
MSL_REL1(isinf)
MSL_REL1(isnan)
MSL_REL1(isnormal)
MSL_REL1(signbit)
#define MSL_REL2(T) MSL_FN bool isordered(T a, T b) MSL_NAN MSL_IS(!(isnan(a) || isnan(b))) MSL_FN bool isunordered(T a, T b) MSL_NAN MSL_IS(isnan(a) || isnan(b))
MSL_FLOATS(MSL_REL2)
#define MSL_REL2_V(T, I, N, f) MSL_FN I##N f(T##N a, T##N b) MSL_NAN MSL_EACH(I##N, N, f(a[i], b[i]) ? I(-1) : I(0))
#define MSL_REL2_N(T, I, f) MSL_REL2_V(T, I, 2, f) MSL_REL2_V(T, I, 3, f) MSL_REL2_V(T, I, 4, f)
MSL_REL2_N(float, int, isordered) MSL_REL2_N(float, int, isunordered)
MSL_REL2_N(half, short, isordered) MSL_REL2_N(half, short, isunordered)

// select(a, b, c) is c ? b : a. A vector mask is what a comparison gives.
#define MSL_SELECT_M(T, N, M) MSL_FN T##N select(T##N a, T##N b, M##N c) MSL_EACH(T##N, N, c[i] ? b[i] : a[i])
#define MSL_SELECT_N(T, N) MSL_SELECT_M(T, N, char) MSL_SELECT_M(T, N, short) MSL_SELECT_M(T, N, int) MSL_SELECT_M(T, N, long)
#define MSL_SELECT(T) MSL_FN T select(T a, T b, bool c) MSL_IS(c ? b : a) MSL_SELECT_N(T, 2) MSL_SELECT_N(T, 3) MSL_SELECT_N(T, 4)
MSL_INTS(MSL_SELECT)
MSL_FLOATS(MSL_SELECT)
MSL_FN bool select(bool a, bool b, bool c) MSL_IS(c ? b : a)
MSL_FN bfloat select(bfloat a, bfloat b, bool c) MSL_IS(c ? b : a)
#define MSL_ALL_N(T, N) \
  MSL_FN bool all(T##N a) MSL_BODY(for (int i = 0; i < N; ++i) { if (!a[i]) return false; } return true;) \
  MSL_FN bool any(T##N a) MSL_BODY(for (int i = 0; i < N; ++i) { if (a[i]) return true; } return false;)
#define MSL_ALL(T) MSL_ALL_N(T, 2) MSL_ALL_N(T, 3) MSL_ALL_N(T, 4)
MSL_ALL(char)
MSL_ALL(short)
MSL_ALL(int)
MSL_ALL(long)
MSL_FN bool all(bool a) MSL_IS(a)
MSL_FN bool any(bool a) MSL_IS(a)

// Geometric functions have no scalar form.
#define MSL_GEO_N(T, N) \
  MSL_FN T dot(T##N a, T##N b) MSL_BODY(T s = T(0); for (int i = 0; i < N; ++i) s = T(s + a[i] * b[i]); return s;) \
  MSL_FN T length_squared(T##N a) MSL_IS(dot(a, a)) \
  MSL_FN T length(T##N a) MSL_IS(sqrt(dot(a, a))) \
  MSL_FN T distance_squared(T##N a, T##N b) MSL_IS(dot(a - b, a - b)) \
  MSL_FN T distance(T##N a, T##N b) MSL_IS(length(a - b)) \
  MSL_FN T##N normalize(T##N a) MSL_IS(a * rsqrt(dot(a, a))) \
  MSL_FN T##N faceforward(T##N n, T##N i, T##N r) MSL_IS(dot(r, i) < T(0) ? n : -n) \
  MSL_FN T##N reflect(T##N i, T##N n) MSL_IS(i - T(2) * dot(n, i) * n) \
  MSL_FN T##N refract(T##N i, T##N n, T eta) MSL_BODY(T d = dot(n, i); T k = T(1) - eta * eta * (T(1) - d * d); return k < T(0) ? T##N(T(0)) : eta * i - (eta * d + sqrt(k)) * n;)
#define MSL_GEO(T) MSL_GEO_N(T, 2) MSL_GEO_N(T, 3) MSL_GEO_N(T, 4) \
  MSL_FN T##3 cross(T##3 a, T##3 b) MSL_IS(a.yzx * b.zxy - a.zxy * b.yzx)
MSL_FLOATS(MSL_GEO)
#if defined(MSL_CHECK)
// Packed vectors convert; Apple's compiler has refused them here.
#define MSL_PACKED_GEO MSL_WARN("a packed vector here has been refused by Apple's compiler: make a vector of it first, as in float3(p)")
template <class A, class B> typename msl::packed_of<A, B>::elem dot(A, B) MSL_PACKED_GEO;
template <class A, class B> typename msl::packed_of<A, B>::vector cross(A, B) MSL_PACKED_GEO;
#endif
#define MSL_GEO_FAST(N) \
  MSL_FN float length(float##N a) MSL_IS(metal::length(a)) \
  MSL_FN float distance(float##N a, float##N b) MSL_IS(metal::distance(a, b)) \
  MSL_FN float##N normalize(float##N a) MSL_IS(metal::normalize(a))
namespace fast { MSL_GEO_FAST(2) MSL_GEO_FAST(3) MSL_GEO_FAST(4) }
namespace precise { MSL_GEO_FAST(2) MSL_GEO_FAST(3) MSL_GEO_FAST(4) }
}
