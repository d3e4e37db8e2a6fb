// Forms that are right and look as if they were not.
#include <metal_stdlib>
using namespace metal;

#define SCALE(x) ((x) * 2.0f)

enum Mode : uint { plain, wide };
enum class Kind { one, two };

// Words that OpenCL has and Metal leaves to the user, and names of functions.
struct Words {
private:
  int hidden;
public:
  int global, local, generic, pipe, complex, uniform, level, access, bias;
};

union Bits {
  float f;
  uint u;
};

struct Accumulator {
  float total = 0.0f;
  thread Accumulator &operator+=(float v) thread {
    total += v;
    return *this;
  }
  float get() const { return total; }
};

template <typename T, int N>
struct Tile {
  T v[N];
  T sum() const {
    T s = T(0);
    for (int i = 0; i < N; ++i) s += v[i];
    return s;
  }
};

template <typename T>
inline T twice(T x) { return x + x; }
template <>
inline half twice(half x) { return x * 2.0h; }

inline float load(device const float *p) { return *p; }
inline float load(constant const float *p) { return *p; }
METAL_FUNC float of_range(float x) { return clamp(x, 0.0, 1.0) + max(x, 0.0) + pow(x, 2); }
inline uint hash(uint x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  return x ^ (x >> 15);
}

using number = float;
typedef device const float *source;

[[kernel, max_total_threads_per_threadgroup(1024)]] void right(source x [[buffer(0)]], device float *y [[buffer(1)]],
                  constant uint &mode [[buffer(2)]], constant float *w [[buffer(3)]],
                  device const packed_float3 *p [[buffer(4)]], device atomic_uint *count [[buffer(5)]],
                  uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                  uint length [[threads_per_simdgroup]]) {
  threadgroup float tile[32][33];
  threadgroup atomic_uint seen;
  Words words = {};
  words.global = words.local = 1;
  Bits bits;
  bits.f = x[i];
  number step = load(x) + load(w);
  Accumulator a;
  a += step;
  Tile<float, 4> t = {{1, 2, 3, 4}};
  float4 v = float4(p[i], 1.0f);
  v.xy = v.yx;
  v.xyz = p[i];
  float3 three = p[i];
  uint2 at = uint2(ushort2(1, 2));
  const int big = 1'000'000, binary = 0b1010;
  const half h = half(x[i]) + 1.5h;
  const bool less = x[i] < 1.0f ? h > half(1) : h < half(2);
  const bool every = all(v == v.wzyx) && any(v < 1.0f);
  const float chosen = select(x[i], 1.0f, every);
  for (uint k = 0; k < 4u; ++k) v[k] += dot(v, v);
  switch (mode) {
    case plain: y[i] = 1.0f; break;
    case wide: [[fallthrough]];
    default: y[i] = 2.0f;
  }
  Kind kind = mode == 0u ? Kind::one : Kind::two;
  if (kind == Kind::two && (lane & 1u) == 0u) atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
  if (lane == 0u) atomic_store_explicit(&seen, 0u, memory_order_relaxed);
  tile[lane][lane] = simd_sum(x[i]) + simd_shuffle_xor(x[i], 1u) + float(simd_max(lane));
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  simdgroup_barrier(mem_flags::mem_none);
  const float whole = simd_prefix_exclusive_sum(x[i]) + quad_sum(x[i]);
  uint bits2 = as_type<uint>(x[i]), parts = as_type<uint>(half2(h, h));
  y[i] = SCALE(tile[lane][lane]) + a.get() + t.sum() + v.x + three.z + float(at.x) + float(big + binary) + float(h) +
         chosen + twice(x[i]) + float(twice(h)) + of_range(x[i]) + float(hash(bits2 ^ parts ^ bits.u)) + whole +
         float(less) + fast::exp(x[i]) + precise::log(x[i]) + metal::fma(x[i], 2.0f, 1.0f) + float(length);
}
