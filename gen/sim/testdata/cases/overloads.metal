// Functions are overloads for every type, not templates.
#include <metal_stdlib>
using namespace metal;

kernel void overloads(device float *x [[buffer(0)]], device int *n [[buffer(1)]], device uint *u [[buffer(2)]], device half *h [[buffer(3)]],
                      device ulong *l [[buffer(4)]], device bool *q [[buffer(5)]], uint i [[thread_position_in_grid]]) {
  x[i] = max(x[i], 0);  // error: call to 'max' is ambiguous
  x[i] = max(x[i], 0.0);
  x[i] = clamp(x[i], 0, 1);  // error: call to 'clamp' is ambiguous
  x[i] = clamp(x[i], 0.0f, 1.0f);
  h[i] = max(h[i], 0.0f);  // error: call to 'max' is ambiguous
  h[i] = max(h[i], 0.0h);
  u[i] = min(u[i], 3);  // error: call to 'min' is ambiguous
  u[i] = min(u[i], 3u);
  n[i] = min(n[i], -2147483648);  // error: call to 'min' is ambiguous
  x[i] = exp(2);  // error: call to 'exp' is ambiguous
  x[i] = exp(n[i]);  // error: call to 'exp' is ambiguous
  x[i] = abs(n[i]) + pow(x[i], 2);
  x[i] = sqrt(u[i]);  // error: call to 'sqrt' is ambiguous
  x[i] = mix(x[i], x[i], 1);
  x[i] = mix(0, 1, 1);  // error: call to 'mix' is ambiguous
  x[i] = sign(n[i]);  // error: call to 'sign' is ambiguous
  x[i] = fma(x[i], 2, 1);
  l[i] = simd_sum(l[i]);  // error: call to 'simd_sum' is ambiguous
  l[i] = simd_shuffle(l[i], 1);  // error: call to 'simd_shuffle' is ambiguous
  q[i] = simd_any(q[i]);
  l[i] = quad_sum(l[i]);
  n[i] = simd_xor(x[i]);  // error: call to 'simd_xor' is ambiguous
  x[i] = frexp(x[i], &n[i]);  // error: no matching function for call to 'frexp'
  x[i] = frexp(x[i], n[i]);  // error: no matching function for call to 'frexp'
  int e;
  x[i] = frexp(x[i], e) + float(e);
  float c;
  x[i] = sincos(x[i], c) + c;
  x[i] = fast::exp(x[i]) + precise::sin(x[i]);
  threadgroup_barrier();  // error: no matching function for call to 'threadgroup_barrier'
  threadgroup_barrier(2);  // error: no matching function for call to 'threadgroup_barrier'
  threadgroup_barrier(mem_flags::none);  // error: no member named 'none' in 'metal::mem_flags'
}
