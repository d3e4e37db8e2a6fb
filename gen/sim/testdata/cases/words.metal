// Words that C++ or a user would have and Metal does not.
#include <metal_stdlib>
using namespace metal;

struct Base {
  virtual void f();  // error: virtual functions are not supported in Metal
};

inline void assert(bool b) {}  // error: assert is a macro of Metal's

kernel void words(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  double d = 1.0;  // error: 'double' is not supported in Metal
  long double e = 1.0;  // error: 'double' is not supported in Metal
  long long f = 1;  // error: 'long long' is not supported in Metal
  unsigned long long g = 1;  // error: 'long long' is not supported in Metal
  register float h = 1.0f;  // error: register is not supported in Metal
  thread_local float j = 1.0f;  // error: thread_local is not supported in Metal
  static float k = 1.0f;  // error: static is for program scope
  goto end;  // error: goto is not supported in Metal
  try {  // error: exceptions are not supported in Metal
  } catch (...) {
  }
  throw 1;  // error: exceptions are not supported in Metal
  const auto t = typeid(x);  // error: typeid is not supported in Metal
  const bool q = noexcept(x[i]);  // error: the noexcept operator is not supported in Metal
  thread int *n = new int;  // error: the new operator is not supported in Metal
  delete n;  // error: the delete operator is not supported in Metal
  asm("nop");  // error: asm is not supported in Metal
  x[i] = std::max(x[i], 0.0f);  // error: the C++ standard library is not available in Metal
  float device = 1.0f;  // error: device is a word of Metal's
  float kernel = 1.0f;  // error: kernel is a word of Metal's
  float constant = 1.0f;  // error: constant is a word of Metal's
  int thread = 1;  // error: thread is a word of Metal's
  int threadgroup = 1;  // error: threadgroup is a word of Metal's
  int vertex = 1;  // error: vertex is a word of Metal's
  int fragment = 1;  // error: fragment is a word of Metal's
  float half = 1.0f;  // error: half is a word of Metal's
  float INFINITY = 1.0f;  // error: INFINITY is a macro of Metal's
  float M_PI_F = 1.0f;  // error: M_PI_F is a macro of Metal's
  float8 v;  // error: float8 is a reserved name of Metal's
  int16 w;  // error: int16 is a reserved name of Metal's
end:
  x[i] = 1.0f;
}
