// The arguments of kernels: indices, attributes and their types.
#include <metal_stdlib>
using namespace metal;

struct Params {
  uint n;
  float s;
};

kernel void too_high(device int *x [[buffer(31)]]) { x[0] = 1; }  // error: buffer index 31 of argument x: the highest is 30
kernel void too_high_group(device int *x [[buffer(0)]], threadgroup int *t [[threadgroup(31)]]) { x[0] = t[0]; }  // error: threadgroup index 31 of argument t: the highest is 30
kernel void twice(device int *x [[buffer(1)]], device int *y [[buffer(1)]]) { x[0] = y[0]; }  // error: buffer index 1 of argument y is taken by argument x
kernel void twice_group(device int *x, threadgroup int *a [[threadgroup(0)]], threadgroup int *b [[threadgroup(0)]]) { x[0] = a[0] + b[0]; }  // error: threadgroup index 0 of argument b is taken by argument a
kernel void apart(device int *x [[buffer(0)]], threadgroup int *t [[threadgroup(0)]]) { x[0] = t[0]; }
kernel void by_value(device int *x [[buffer(0)]], uint n) { x[0] = int(n); }  // error: argument n of kernel by_value is passed by value and has no attribute
kernel void value_in_buffer(device int *x [[buffer(0)]], uint n [[buffer(1)]]) { x[0] = int(n); }  // error: argument n has [[buffer]] and is no pointer or reference
kernel void struct_by_value(device int *x [[buffer(0)]], Params p [[buffer(1)]]) { x[0] = int(p.n); }  // error: argument p has [[buffer]] and is no pointer or reference
kernel void group_as_buffer(device int *x [[buffer(0)]], threadgroup int *t [[buffer(1)]]) { x[0] = t[0]; }  // error: argument t has [[buffer]] and points to threadgroup memory
kernel void buffer_as_group(device int *x [[threadgroup(0)]]) { x[0] = 1; }  // error: argument x has [[threadgroup]] and points to device memory
kernel void own_memory(device int *x [[buffer(0)]], thread int *t) { x[0] = t[0]; }  // error: argument t of kernel own_memory points to thread memory
kernel void returns_nothing_good(device int *x [[buffer(0)]]) { return 1; }  // error: should not return a value

kernel void int_position(device int *x [[buffer(0)]], int i [[thread_position_in_grid]]) { x[i] = 1; }  // error: thread_position_in_grid cannot have type int
kernel void long_position(device int *x [[buffer(0)]], ulong i [[thread_position_in_grid]]) { x[i] = 1; }  // error: thread_position_in_grid cannot have type ulong
kernel void size_position(device int *x [[buffer(0)]], size_t i [[thread_position_in_grid]]) { x[i] = 1; }  // error: thread_position_in_grid cannot have type size_t
kernel void four_positions(device int *x [[buffer(0)]], uint4 i [[thread_position_in_grid]]) { x[i.x] = 1; }  // error: thread_position_in_grid cannot have type uint4
kernel void vector_lane(device int *x [[buffer(0)]], uint2 i [[thread_index_in_simdgroup]]) { x[i.x] = 1; }  // error: thread_index_in_simdgroup cannot have type uint2
kernel void pointer_position(device int *x [[buffer(0)]], device uint *i [[thread_position_in_grid]]) { x[*i] = 1; }  // error: thread_position_in_grid cannot have type device uint *
kernel void mixed_simd(device int *x [[buffer(0)]], uint a [[thread_index_in_simdgroup]], ushort b [[simdgroups_per_threadgroup]]) { x[a] = b; }  // error: simdgroups_per_threadgroup has type ushort where argument a has type uint
kernel void mixed_width(device int *x [[buffer(0)]], uint2 a [[thread_position_in_grid]], uint b [[threadgroup_position_in_grid]]) { x[a.x] = int(b); }  // error: the grid positions must agree
kernel void mixed_group(device int *x [[buffer(0)]], uint2 a [[thread_position_in_threadgroup]], ushort2 b [[threads_per_threadgroup]]) { x[a.x] = b.x; }  // error: threads_per_threadgroup has type ushort2 where argument a has type uint2
kernel void narrow_index(device int *x [[buffer(0)]], uint3 a [[thread_position_in_threadgroup]], ushort b [[thread_index_in_threadgroup]]) { x[a.x] = b; }  // error: thread_index_in_threadgroup has type ushort where argument a has type uint3
kernel void wide_index(device int *x [[buffer(0)]], ushort3 a [[thread_position_in_threadgroup]], uint b [[thread_index_in_threadgroup]]) { x[a.x] = int(b); }
kernel void const_position(device int *x [[buffer(0)]], const uint i [[thread_position_in_grid]]) { x[i] = 1; }
kernel void size_in_memory(device int *x [[buffer(0)]], const constant size_t &n [[buffer(1)]]) { x[n] = 1; }
kernel void reference(device int &x, device Params &p) { x = int(p.n); }
