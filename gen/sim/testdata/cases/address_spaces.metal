// Which memory a pointer, a reference or a variable may name.
#include <metal_stdlib>
using namespace metal;

struct Pair {
  float a, b;
};
struct View {
  device float *data;
  float *bare;  // error: pointer type must have explicit address space qualifier
};

constant float half_pi = 1.57f;
static constant uint primes[3] = {2u, 3u, 5u};
float outside_constant = 2.0f;  // error: program scope variable must reside in constant address space
constant float unset;  // error: must be initialized
device float *constant lost = nullptr;

float *returns(device float *p);  // error: pointer type must have explicit address space qualifier
inline float of_device(device const float *p) { return p[0]; }
inline float of_threadgroup(threadgroup const float *p) { return p[0]; }
inline float of_any(device const float *p) { return p[0]; }
inline float of_any(threadgroup const float *p) { return p[0]; }
inline void set(thread Pair &p) { p.a = 1.0f; }
inline float tile_of_a_function() {
  threadgroup float t[4];  // error: variable cannot be declared in local address space
  return t[0];
}

kernel void spaces(device float *x [[buffer(0)]], constant Pair &pair [[buffer(1)]], device Pair *pairs [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
  threadgroup float tile[8];
  float own[2] = {0.0f, 1.0f};
  tile[i] = of_any(x) + of_any(tile);
  x[i] = of_device(tile);  // error: no matching function for call to 'of_device'
  x[i] = of_threadgroup(x);  // error: no matching function for call to 'of_threadgroup'
  x[i] = of_any(own);  // error: no matching function for call to 'of_any'
  set(pairs[i]);  // error: no matching function for call to 'set'
  pair.a = 1.0f;  // error: read-only variable is not assignable
  half_pi = 1.0f;  // error: is not assignable
  thread float *mine = own;
  device float *theirs = own;  // error: cannot initialize a variable of type 'device float *thread'
  threadgroup float *shared = (threadgroup float *)x;  // error: converts between mismatching address spaces
  thread float *again = static_cast<thread float *>(x);  // error: static_cast from 'device float *' to 'thread float *' is not allowed
  auto kept = x;
  float *guess = own;  // error: pointer type must have explicit address space qualifier
  const uint bits = *(uint *)&own[0];  // error: pointer type must have explicit address space qualifier
  const uint cast = *reinterpret_cast<uint *>(mine);  // error: pointer type must have explicit address space qualifier
  const uint right = *(thread uint *)&own[0];
  x[i] = *kept + float(bits + cast + right + primes[i]) + half_pi + *guess + *mine + *shared + *again + *theirs;
}
