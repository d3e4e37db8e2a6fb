#include <metal_stdlib>
using namespace metal;

struct scale_args {
  long n;
  float s;
};

// Four elements a thread where the whole four lie inside, single ones at the end.
kernel void scale(device const float *x [[buffer(0)]],
                  device float *y [[buffer(1)]],
                  constant scale_args &args [[buffer(2)]],
                  uint3 group [[threadgroup_position_in_grid]],
                  uint tid [[thread_index_in_threadgroup]]) {
  long at = (long(group.x) * 64 + long(tid)) * 4;
  if (at + 4 <= args.n) {
    float4 v = *(device const float4 *)(x + at);
    *(device float4 *)(y + at) = v * args.s;
  } else {
    for (long i = at; i < args.n; i++) {
      y[i] = x[i] * args.s;
    }
  }
}

static inline float silu(float v) { return v / (1.0f + precise::exp(-v)); }

kernel void silu_f16(device const half *x [[buffer(0)]],
                     device half *y [[buffer(1)]],
                     constant long &n [[buffer(2)]],
                     uint3 group [[threadgroup_position_in_grid]],
                     uint tid [[thread_index_in_threadgroup]]) {
  long i = long(group.x) * 64 + long(tid);
  if (i < n) {
    y[i] = half(silu(float(x[i])));
  }
}

kernel void widen_bf16(device const bfloat *x [[buffer(0)]],
                       device bfloat *y [[buffer(1)]],
                       constant long &n [[buffer(2)]],
                       uint3 group [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]]) {
  long i = long(group.x) * 64 + long(tid);
  if (i < n) {
    float v = float(x[i]);
    y[i] = bfloat(v * v + 1.0f);
  }
}
