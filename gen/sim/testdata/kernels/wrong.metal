#include <metal_stdlib>
using namespace metal;

// Kernels that are wrong; the comments name the lines that reports must give.

kernel void no_guard(device const float *x [[buffer(0)]],
                     device float *y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  float4 unused = float4(float2(1.0f, 2.0f), 3.0f, 4.0f); float v = x[i]; // read past the end
  y[i] = v + unused.x; // write past the end
}

kernel void group_race(device float *y [[buffer(0)]],
                       uint3 group [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]]) {
  y[tid] = float(group.x); // groups race
}

kernel void early_return(device float *y [[buffer(0)]],
                         uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float t[64];
  if (tid >= 25) {
    return;
  }
  t[tid] = 1.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup); // not all
  y[tid] = t[24 - tid];
}

kernel void two_barriers(device float *y [[buffer(0)]],
                         uint tid [[thread_index_in_threadgroup]]) {
  if (tid < 32) {
    threadgroup_barrier(mem_flags::mem_threadgroup); // one half
  } else {
    threadgroup_barrier(mem_flags::mem_threadgroup); // other half
  }
  y[tid] = 1.0f;
}

kernel void simd_half(device float *y [[buffer(0)]],
                      uint tid [[thread_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
  float v = 0.0f;
  if (lane < 16) {
    v = simd_sum(1.0f); // half of the lanes
  }
  y[tid] = v;
}

kernel void absent_lane(device float *y [[buffer(0)]],
                        uint lane [[thread_index_in_simdgroup]]) {
  float v = 0.0f;
  if (lane < 4) {
    v = simd_shuffle(1.0f, 8); // lane 8 is not here
  }
  y[lane] = v;
}

kernel void simd_barrier_half(device float *y [[buffer(0)]],
                              uint lane [[thread_index_in_simdgroup]]) {
  if (lane < 16) {
    simdgroup_barrier(mem_flags::mem_threadgroup); // half of the SIMD group
  }
  y[lane] = 1.0f;
}

// A SIMD function orders no memory.
kernel void simd_orders_nothing(device float *y [[buffer(0)]],
                                uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float t[32];
  t[lane] = float(lane); // written
  float s = simd_sum(1.0f);
  y[lane] = t[31 - lane] + s; // read unordered
}

// Nor does a barrier that names no memory.
kernel void barrier_of_nothing(device float *y [[buffer(0)]],
                               uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float t[32];
  t[lane] = float(lane);
  threadgroup_barrier(mem_flags::mem_none);
  y[lane] = t[31 - lane]; // read after an empty barrier
}

kernel void unwritten(device float *y [[buffer(0)]],
                      uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float t[32];
  if (tid < 31) {
    t[tid] = 1.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[tid] = t[tid];
}

kernel void past_tile(device float *y [[buffer(0)]],
                      constant int &n [[buffer(1)]],
                      uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float t[32];
  threadgroup float *p = t;
  p[int(tid) + n] = 1.0f; // past the tile
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[tid] = t[tid];
}

kernel void overflow(device int *y [[buffer(0)]],
                     uint tid [[thread_index_in_threadgroup]]) {
  y[tid] = (y[tid] << (tid + 32)) + 1; // overflows, the shift does not count
}

kernel void misaligned(device const float *x [[buffer(0)]],
                       device float *y [[buffer(1)]],
                       uint tid [[thread_index_in_threadgroup]]) {
  float4 v = *(device const float4 *)(x + 1); // no multiple of 16
  y[tid] = v.x + v.y;
}

kernel void misaligned_part(device const float *x [[buffer(0)]],
                            device float *y [[buffer(1)]],
                            uint tid [[thread_index_in_threadgroup]]) {
  y[tid] = (*(device const float4 *)(x + 1)).x; // traps
}

kernel void too_much(device float *y [[buffer(0)]],
                     threadgroup float *t [[threadgroup(0)]],
                     uint tid [[thread_index_in_threadgroup]]) {
  t[tid] = 0.0f;
  y[tid] = t[tid];
}

// Device memory goes from thread to thread over a barrier that does not name it.
kernel void over_device(device float *y [[buffer(0)]],
                        uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float t[32];
  t[tid] = 1.0f;
  y[tid] = 1.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float v = y[31 - tid] + t[31 - tid]; // device memory is not ordered
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  y[tid] = v;
}
