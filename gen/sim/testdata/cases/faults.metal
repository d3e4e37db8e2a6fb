// Known faults of Apple's compiler and drivers, and what makes results differ.
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(32)]] kernel void narrow(device float *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {  // warning: max_total_threads_per_threadgroup(32) makes barriers and 8 by 8 matrices wrong
  threadgroup float t[32];
  t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = t[31 - i];
}
[[max_total_threads_per_threadgroup(32)]] kernel void alone(device float *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) { x[i] = 1.0f; }

kernel void reference(device float *x [[buffer(0)]], threadgroup float &t, uint i [[thread_index_in_threadgroup]]) {  // warning: barriers have been seen to fail for threadgroup memory that is a reference argument
  if (i == 0u) t = x[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = t;
}

inline float of_case(uint n) {
  switch (n) {
    case 0u: return 1.0f;  // warning: a return inside a switch has crashed Apple's compiler
    default: break;
  }
  return 2.0f;
}

kernel void types(device float *x [[buffer(0)]], device atomic_float *sum [[buffer(1)]], device half *h [[buffer(2)]], device bfloat *b [[buffer(3)]],
                  uint i [[thread_index_in_threadgroup]]) {
  threadgroup bool flags[32];  // warning: threadgroup memory of bool is misread
  flags[i] = x[i] > 0.0f;
  atomic_fetch_add_explicit(sum, x[i], memory_order_relaxed);  // warning: a sum by float atomics has no fixed order
  float old = 0.0f;
  while (!atomic_compare_exchange_weak_explicit(sum, &old, old + 1.0f, memory_order_relaxed, memory_order_relaxed)) {  // warning: compares as floats
  }
  h[i] = tanh(h[i]);  // warning: tanh of half is wrong on AMD
  b[i] = simd_shuffle(b[i], ushort(1));  // warning: simd_shuffle of bfloat may fail when the pipeline is made
  const float2 two = unpack_snorm2x16_to_float(as_type<uint>(x[i]));  // warning: unpack_snorm2x16_to_float is wrong on M3 and later
  x[i] = two.x + of_case(i);
}
