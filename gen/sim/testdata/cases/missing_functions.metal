// Functions of C and C++ that Metal does not have.
#include <metal_stdlib>
using namespace metal;

kernel void missing(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = fmaxf(x[i], 0.0f);  // error: use of undeclared identifier 'fmaxf'
  x[i] = expf(x[i]);  // error: use of undeclared identifier 'expf'
  x[i] = erf(x[i]);  // error: use of undeclared identifier 'erf'
  x[i] = log1p(x[i]);  // error: use of undeclared identifier 'log1p'
  x[i] = hypot(x[i], x[i]);  // error: use of undeclared identifier 'hypot'
  x[i] = cbrt(x[i]);  // error: use of undeclared identifier 'cbrt'
  x[i] = remainder(x[i], x[i]);  // error: use of undeclared identifier 'remainder'
  printf("%f", x[i]);  // error: use of undeclared identifier 'printf'
  int array[int(x[i])];  // error: array size is not a constant expression
  memcpy(x, x + 1, 4);  // error: use of undeclared identifier 'memcpy'
}
