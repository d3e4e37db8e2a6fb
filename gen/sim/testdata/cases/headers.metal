// Headers of C++.
#include <metal_stdlib>
#include <cmath>  // error: the C++ standard library is not available in Metal
#include <vector>  // error: the C++ standard library is not available in Metal
#include <math.h>  // error: the C standard library is not available in Metal
using namespace metal;
kernel void k(device float *x [[buffer(0)]]) { x[0] = 1.0f; }
