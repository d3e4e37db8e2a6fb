// Kernels as functions: what they return, what they are called.
#include <metal_stdlib>
using namespace metal;

inline int main(device int *x) { return x[0]; }  // error: no function may be called main
kernel int gives(device int *x [[buffer(0)]]) { return x[0]; }  // error: kernel gives must return void
kernel void same(device int *x [[buffer(0)]]) { x[0] = 1; }
kernel void same(device float *x [[buffer(0)]]) { x[0] = 1; }  // error: kernel same is defined twice
[[host_name("one")]] kernel void first(device int *x [[buffer(0)]]) { x[0] = 1; }
[[host_name("one")]] kernel void second(device int *x [[buffer(0)]]) { x[0] = 1; }  // error: the host knows two kernels as one
kernel void calls(device int *x [[buffer(0)]]) { first(x); }  // error: kernel first cannot be called
inline void helper(device int *x) { first(x); }  // error: kernel first cannot be called
namespace a {
kernel void inner(device int *x [[buffer(0)]]) { x[0] = 1; }
}
namespace b {
kernel void inner(device int *x [[buffer(0)]]) { x[0] = 2; }
}
inline int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
