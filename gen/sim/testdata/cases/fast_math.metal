// What the default math mode, which is fast, takes away.
#include <metal_stdlib>
using namespace metal;

inline float cleaned(float v) { return isnan(v) ? 0.0f : v; }  // warning: fast math takes NaN and infinity as absent
inline bool whole(half v) { return isfinite(v) && !isinf(v); }  // warning: fast math takes NaN and infinity as absent
inline bool infinite(float v) { return v == INFINITY || v != -INFINITY; }  // warning: fast math takes NaN and infinity as absent
inline float squash(float v) { return tanh(v); }  // warning: tanh of a large float is NaN under fast math: write precise::tanh
inline float squash_right(float v) { return precise::tanh(v); }
inline float first_of_all() { return -INFINITY; }

#pragma METAL fp math_mode(relaxed)
inline bool kept(float v) { return isnan(v); }
inline float safe_block(float v) {
#pragma METAL fp math_mode(safe)
  return isnan(v) ? tanh(v) : v;
}
#pragma METAL fp math_mode(fast)
inline bool fast_block(float v) {
  if (v > 1.0f) {
#pragma METAL fp math_mode(safe)
    return isnan(v);
  }
  return isnan(v);  // warning: fast math takes NaN and infinity as absent
}
template <typename T>
inline bool any_of(T v) { return isnan(v); }  // warning: fast math takes NaN and infinity as absent
kernel void uses(device float *x [[buffer(0)]]) { x[0] = any_of(x[0]); }
