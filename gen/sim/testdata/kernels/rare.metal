#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

// Functions that few kernels need, one result each.
kernel void rare(device float *y [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  const half tiny = nextafter(0.0h, -1.0h), up = nextafter(1.0h, 2.0h), down = nextafter(-1.0h, 0.0h);
  const float2 in = float2(0.6f, -0.8f), n = float2(0.0f, 1.0f);
  const float2 mirrored = reflect(in, n), bent = refract(in, n, 0.5f), none = refract(float2(0.96f, -0.28f), n, 2.0f);
  const float quad = quad_shuffle_and_fill_down(float(lane), 100.0f + float(lane), ushort(1));
  const float pair = quad_shuffle_and_fill_up(float(lane), 100.0f + float(lane), ushort(1), ushort(2));
  const bfloat sum = simd_sum(bfloat(1.0f)), moved = simd_shuffle_down(bfloat(float(lane)), ushort(1));
  device float *to = y + 16 * lane;
  to[0] = float(as_type<ushort>(tiny));
  to[1] = float(as_type<ushort>(up));
  to[2] = float(as_type<ushort>(down));
  to[3] = mirrored.y;
  to[4] = bent.x;
  to[5] = bent.y;
  to[6] = none.x + none.y;
  to[7] = faceforward(n, in, n).y;
  to[8] = float(mul24(int2(-3, 1 << 24), int2(5, 7)).x) + float(mad24(uint2(1u, 1u << 24), uint2(9u), uint2(2u)).y);
  to[9] = float(ilogb(float2(0.25f, 9.0f)).y);
  to[10] = all(isordered(in, n)) && !any(isunordered(in, n)) && any(isunordered(float2(NAN, 1.0f), n)) ? 1.0f : 0.0f;
  to[11] = quad;
  to[12] = pair;
  to[13] = float(sum);
  to[14] = float(moved);
  to[15] = float(nextafter(float2(1.0f, 0.0f), float2(0.0f)).x);
}
