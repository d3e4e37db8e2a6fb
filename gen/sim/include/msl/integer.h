// The functions on integers of every width, scalar and vector.
#pragma once

namespace metal {
#define MSL_I1V(T, N, f) MSL_FN T##N f(T##N a) MSL_EACH(T##N, N, f(a[i]))
#define MSL_I1T(T, f) MSL_FN T f(T a) MSL_IS(msl::f##_int(a)) MSL_I1V(T, 2, f) MSL_I1V(T, 3, f) MSL_I1V(T, 4, f)
#define MSL_I1(f) MSL_INTS_AND(MSL_I1T, f)
#define MSL_I2V(T, N, f) MSL_FN T##N f(T##N a, T##N b) MSL_EACH(T##N, N, f(a[i], b[i]))
#define MSL_I2T(T, f) MSL_FN T f(T a, T b) MSL_IS(msl::f##_int(a, b)) MSL_I2V(T, 2, f) MSL_I2V(T, 3, f) MSL_I2V(T, 4, f)
#define MSL_I2(f) MSL_INTS_AND(MSL_I2T, f)
#define MSL_I3V(T, N, f) MSL_FN T##N f(T##N a, T##N b, T##N c) MSL_EACH(T##N, N, f(a[i], b[i], c[i]))
#define MSL_I3T(T, f) MSL_FN T f(T a, T b, T c) MSL_IS(msl::f##_int(a, b, c)) MSL_I3V(T, 2, f) MSL_I3V(T, 3, f) MSL_I3V(T, 4, f)
#define MSL_I3(f) MSL_INTS_AND(MSL_I3T, f)

MSL_I1(abs)
MSL_I1(clz)
MSL_I1(ctz)
MSL_I1(popcount)
MSL_I1(reverse_bits)
MSL_I2(addsat)
MSL_I2(subsat)
MSL_I2(hadd)
MSL_I2(rhadd)
MSL_I2(max)
MSL_I2(min)
MSL_I2(mulhi)
MSL_I2(rotate)
MSL_I3(clamp)
MSL_I3(madhi)
MSL_I3(madsat)
MSL_I3(max3)
MSL_I3(min3)
MSL_I3(median3)

#define MSL_ABSDIFF_V(T, U, N) MSL_FN U##N absdiff(T##N a, T##N b) MSL_EACH(U##N, N, absdiff(a[i], b[i]))
#define MSL_ABSDIFF(T, U) MSL_FN U absdiff(T a, T b) MSL_IS(a > b ? U(U(a) - U(b)) : U(U(b) - U(a))) MSL_ABSDIFF_V(T, U, 2) MSL_ABSDIFF_V(T, U, 3) MSL_ABSDIFF_V(T, U, 4)
MSL_ABSDIFF(char, uchar) MSL_ABSDIFF(uchar, uchar) MSL_ABSDIFF(short, ushort) MSL_ABSDIFF(ushort, ushort)
MSL_ABSDIFF(int, uint) MSL_ABSDIFF(uint, uint) MSL_ABSDIFF(long, ulong) MSL_ABSDIFF(ulong, ulong)

#define MSL_BITS_V(T, N) \
  MSL_FN T##N extract_bits(T##N a, uint at, uint n) MSL_EACH(T##N, N, extract_bits(a[i], at, n)) \
  MSL_FN T##N insert_bits(T##N a, T##N b, uint at, uint n) MSL_EACH(T##N, N, insert_bits(a[i], b[i], at, n))
#define MSL_BITS(T) \
  MSL_FN T extract_bits(T a, uint at, uint n) MSL_IS(msl::extract_bits_int(a, at, n)) \
  MSL_FN T insert_bits(T a, T b, uint at, uint n) MSL_IS(msl::insert_bits_int(a, b, at, n)) \
  MSL_BITS_V(T, 2) MSL_BITS_V(T, 3) MSL_BITS_V(T, 4)
MSL_INTS(MSL_BITS)

#define MSL_MUL24_V(T, N) \
  MSL_FN T##N mul24(T##N a, T##N b) MSL_EACH(T##N, N, mul24(a[i], b[i])) \
  MSL_FN T##N mad24(T##N a, T##N b, T##N c) MSL_EACH(T##N, N, mad24(a[i], b[i], c[i]))
#define MSL_MUL24(T) \
  MSL_FN T mul24(T a, T b) MSL_IS(msl::mul24_int(a, b)) \
  MSL_FN T mad24(T a, T b, T c) MSL_IS(T(msl::mul24_int(a, b) + c)) \
  MSL_MUL24_V(T, 2) MSL_MUL24_V(T, 3) MSL_MUL24_V(T, 4)
MSL_MUL24(int) MSL_MUL24(uint)
}
