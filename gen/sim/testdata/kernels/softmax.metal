#include <metal_stdlib>
using namespace metal;

struct softmax_args {
  long rows;
  long d;
};

// One row a threadgroup of 64 threads, two SIMD groups.
kernel void softmax(device const float *x [[buffer(0)]],
                    device float *y [[buffer(1)]],
                    constant softmax_args &args [[buffer(2)]],
                    uint3 group [[threadgroup_position_in_grid]],
                    uint tid [[thread_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float part[2];
  device const float *row = x + long(group.x) * args.d;
  device float *out = y + long(group.x) * args.d;
  float top = -INFINITY;
  for (long i = long(tid); i < args.d; i += 64) {
    top = max(top, row[i]);
  }
  top = simd_max(top);
  if (lane == 0) {
    part[sg] = top;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  top = max(part[0], part[1]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (long i = long(tid); i < args.d; i += 64) {
    sum += precise::exp(row[i] - top);
  }
  sum = simd_sum(sum);
  if (lane == 0) {
    part[sg] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = part[0] + part[1];
  for (long i = long(tid); i < args.d; i += 64) {
    out[i] = precise::exp(row[i] - top) / sum;
  }
}
