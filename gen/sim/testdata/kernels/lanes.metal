#include <metal_stdlib>
using namespace metal;

// What each SIMD function gives, 64 results a function.
kernel void lanes(device const float *x [[buffer(0)]],
                  device float *y [[buffer(1)]],
                  uint tid [[thread_index_in_threadgroup]],
                  uint size [[threads_per_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]]) {
  float v = x[tid];
  y[0 * size + tid] = simd_sum(v);
  y[1 * size + tid] = simd_max(v);
  y[2 * size + tid] = simd_min(v);
  y[3 * size + tid] = simd_shuffle_xor(v, 5);
  y[4 * size + tid] = simd_shuffle_down(v, 3);
  y[5 * size + tid] = simd_shuffle_up(v, 3);
  y[6 * size + tid] = simd_broadcast(v, 7);
  y[7 * size + tid] = simd_prefix_exclusive_sum(v);
  y[8 * size + tid] = simd_prefix_inclusive_sum(v);
  y[9 * size + tid] = float(popcount(uint(ulong(simd_vote::vote_t(simd_ballot(v > 10.0f))))));
  y[10 * size + tid] = simd_shuffle(v, lane ^ 1u);
  y[11 * size + tid] = quad_sum(v);
  y[12 * size + tid] = simd_shuffle_and_fill_down(v, -1.0f, 2);
  y[13 * size + tid] = simd_shuffle_rotate_up(v, 1);
}

// Every place of a thread, in a group of 8 by 4 by 2.
kernel void places(device uint *y [[buffer(0)]],
                   uint3 at [[thread_position_in_grid]],
                   uint3 grid [[threads_per_grid]],
                   uint3 local [[thread_position_in_threadgroup]],
                   uint3 group [[threadgroup_position_in_grid]],
                   uint tid [[thread_index_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]],
                   uint sg [[simdgroup_index_in_threadgroup]]) {
  uint i = (at.z * grid.y + at.y) * grid.x + at.x;
  y[i] = local.x + 8 * (local.y + 4 * local.z) == tid && lane + 32 * sg == tid ? group.x + 10 * group.y + 100 * group.z : 9999;
}

// Memory that the host sizes, and a function on values of every kind.
kernel void sized(device const float *x [[buffer(0)]],
                  device float *y [[buffer(1)]],
                  threadgroup float *t [[threadgroup(0)]],
                  uint tid [[thread_index_in_threadgroup]],
                  uint size [[threads_per_threadgroup]]) {
  t[tid] = x[tid];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[tid] = t[size - 1 - tid];
}

kernel void functions(device const float *x [[buffer(0)]],
                      device float *y [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  float v = x[i];
  int e;
  float whole;
  device float *o = y + i * 16;
  o[0] = frexp(v, e);
  o[1] = float(e);
  o[2] = modf(v, whole);
  o[3] = whole;
  o[4] = precise::rsqrt(v);
  o[5] = fract(v);
  o[6] = sign(v);
  o[7] = float(half(v));
  o[8] = float(bfloat(v));
  o[9] = as_type<float>(as_type<uint>(v) ^ 0x80000000u);
  o[10] = select(1.0f, 2.0f, v > 1.0f);
  o[11] = fma(v, v, 1.0f);
  o[12] = float(clz(uint(int(v)))) + float(mulhi(0xD2511F53u, 0xCD9E8D57u));
  o[13] = exp10(v * 0.1f);
  o[14] = rint(v);
  o[15] = dot(float4(v, 1, float2(2.0)), float4(1.0f));
}
