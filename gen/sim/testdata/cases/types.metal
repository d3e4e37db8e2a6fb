// Conversions, vectors, matrices, half and bfloat.
#include <metal_stdlib>
using namespace metal;

kernel void types(device float *x [[buffer(0)]], device bfloat *b [[buffer(1)]], device half *h [[buffer(2)]],
                  device const packed_float3 *p [[buffer(3)]], uint i [[thread_position_in_grid]]) {
  bfloat from_literal = 1.0f;  // error: no viable conversion from 'float' to 'thread bfloat'
  bfloat from_half = h[i];  // error: no viable conversion from 'device half' to 'thread bfloat'
  bfloat from_exp = exp(b[i]);  // error: no viable conversion from 'float' to 'thread bfloat'
  half through = b[i] * h[i];  // error: overload resolution selected deleted operator '*'
  half from_bfloat = half(float(b[i]));
  float wide = b[i] + 1.0f;
  bfloat right = bfloat(x[i]) * b[i] + 2.0bf;
  float4 v = float4(1.0f, 2.0f);  // error: the vector constructor takes
  float4 five = float4(float3(1.0f), 2.0f, 3.0f);  // error: the vector constructor takes
  int4 whole = float4(1.0f);  // error: cannot initialize a variable of type 'thread int4'
  float4 cast = static_cast<float4>(int4(1));
  half4 narrow = half4(float4(1.0f));
  float2 mixed = v.xg;  // error: illegal vector component name 'g'
  v.xx = float2(1.0f);  // error: vector is not assignable (contains duplicate components)
  float out_of_range = v.xy.z;  // error: vector component access exceeds type
  thread float *address = &v.x;  // error: address of vector element requested
  if (v == cast) {  // error: is not contextually convertible to 'bool'
  }
  float3x3 m = float3x3(1.0f);
  float3 product = m * float3(p[i]);
  float3 packed_product = m * p[i];  // error: invalid operands to binary expression
  float turned = float4(m).x;  // error: cannot convert 'thread metal::matrix<float, 3, 3>' to
  float3 crossed = cross(p[i], float3(1.0f));  // warning: a packed vector here has been refused
  float size = as_type<float>(h[i]);  // error: as_type needs two types of one size
  float scalar_length = length(x[i]);  // error: call to 'length' is ambiguous
  int array[2] = {1, 2}, other[2];
  other = array;  // error: array type 'thread int[2]' is not assignable
  x[i] = wide + float(right) + float(narrow.x) + product.x + packed_product.x + crossed.x + scalar_length + size + from_bfloat +
         float(from_literal) + float(from_half) + float(from_exp) + through + five.x + float(whole.x) + mixed.x + out_of_range + *address + turned;
}
