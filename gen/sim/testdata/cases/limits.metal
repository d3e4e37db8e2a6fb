// What a kernel may have of each resource.
#include <metal_stdlib>
using namespace metal;

struct Block {
  float v[1025];
};
struct Cell {
  float4 v;
};

[[max_total_threads_per_threadgroup(1025)]] kernel void threads(device int *x [[buffer(0)]]) { x[0] = 1; }  // error: max_total_threads_per_threadgroup(1025): 1 to 1024 are possible
[[max_total_threads_per_threadgroup(0)]] kernel void none(device int *x [[buffer(0)]]) { x[0] = 1; }  // error: max_total_threads_per_threadgroup(0): 1 to 1024 are possible
[[max_total_threads_per_threadgroup(1024)]] kernel void most(device int *x [[buffer(0)]]) { x[0] = 1; }

kernel void full(device float *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  threadgroup float a[4096];
  threadgroup Cell b[1024];
  a[i] = x[i];
  b[i].v = x[i];
  x[i] = a[i] + b[i].v.x;
}

kernel void over(device float *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  threadgroup float a[4096];
  threadgroup Cell b[1024];
  threadgroup float c;  // error: threadgroup memory size (32784) exceeds the maximum threadgroup memory allowed (32768)
  a[i] = x[i];
  b[i].v = x[i];
  c = x[i];
  x[i] = a[i] + b[i].v.x + c;
}

kernel void inline_block(device float *x [[buffer(0)]], constant Block &block [[buffer(1)]]) { x[0] = block.v[0]; }  // warning: argument block takes 4100 bytes: inline bytes hold 4096 at most, so the host must bind a buffer
kernel void many(device int *a0, device int *a1, device int *a2, device int *a3, device int *a4, device int *a5, device int *a6, device int *a7,
                 device int *a8, device int *a9, device int *a10, device int *a11, device int *a12, device int *a13, device int *a14, device int *a15,
                 device int *a16, device int *a17, device int *a18, device int *a19, device int *a20, device int *a21, device int *a22, device int *a23,
                 device int *a24, device int *a25, device int *a26, device int *a27, device int *a28, device int *a29, device int *a30,
                 device int *a31) {  // error: no buffer index is left for argument a31: a kernel has 31
  a0[0] = a31[0];
}

constant int chosen [[function_constant(65536)]];  // error: function constant 65536 of chosen: the highest is 65535
constant int given [[function_constant(1)]] = 3;  // error: function constant given has an initialiser
constant float4x4 matrix_constant [[function_constant(2)]];  // error: function constant matrix_constant is no scalar and no vector
constant int fine [[function_constant(3)]];
kernel void uses(device int *x [[buffer(0)]]) { x[0] = fine; }
