// What is not judged.
#include <metal_stdlib>
#include <metal_tensor>  // outside: #include <metal_tensor>
#include "mine.h"  // outside: #include <mine.h>
using namespace metal;

kernel void image(texture2d<float> t [[texture(0)]], device float *y [[buffer(0)]], uint i [[thread_position_in_grid]]) { y[i] = t.read(uint2(i)).x; }  // outside: texture2d // outside: attribute [[texture]] here
kernel void copied(device float *y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  if (i > 2u) {
    threadgroup float t[4];  // outside: a threadgroup variable in an inner block
    t[i] = 1.0f;
  }
  int2 v = (int2)float2(1.0f);  // outside: C cast to int2; write int2(x)
  y[i] = float(v.x) + fast::fma(y[i], y[i], y[i]);  // outside: fma
}
vertex float4 corner(uint i [[vertex_id]]) { return float4(float(i)); }  // outside: attribute [[vertex_id]] here // outside: vertex
