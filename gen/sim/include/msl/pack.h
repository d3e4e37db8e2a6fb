// Packing of normalised values: component i in the i-th bits from below.
#pragma once

namespace metal {
#define MSL_PACK(U, T, N, layout) MSL_PACK_W(U, T, N, layout, )
#define MSL_PACK_W(U, T, N, layout, W) \
  MSL_FN U pack_##T##_to_##layout(T##N v) MSL_IS(U(msl::pack<T##N>(v, msl::layout))) \
  MSL_FN T##N unpack_##layout##_to_##T(U v) W MSL_IS(msl::unpack<T##N>(v, msl::layout))
#define MSL_PACK_16(T, layout) \
  MSL_PACK_W(uint, T, 2, layout, MSL_WARN("unpack_" #layout "_to_" #T " is wrong on M3 and later for what lies at odd offsets of 16 bits"))
#define MSL_PACKS(T) \
  MSL_PACK(uint, T, 4, unorm4x8) MSL_PACK(uint, T, 4, snorm4x8) MSL_PACK_16(T, unorm2x16) \
  MSL_PACK_16(T, snorm2x16) MSL_PACK(uint, T, 4, unorm10a2) MSL_PACK(ushort, T, 3, unorm565) \
  MSL_FN uint pack_##T##_to_srgb_unorm4x8(T##4 v) MSL_IS(uint(msl::pack<T##4>(msl::to_srgb(v), msl::unorm4x8))) \
  MSL_FN T##4 unpack_unorm4x8_srgb_to_##T(uint v) MSL_IS(msl::from_srgb(msl::unpack<T##4>(v, msl::unorm4x8)))
#if defined(MSL_RUN)
}
namespace msl {
struct pack_layout { int bits[4]; bool is_signed; };
static const pack_layout unorm4x8 = {{8, 8, 8, 8}, false}, snorm4x8 = {{8, 8, 8, 8}, true};
static const pack_layout unorm2x16 = {{16, 16, 0, 0}, false}, snorm2x16 = {{16, 16, 0, 0}, true};
static const pack_layout unorm10a2 = {{10, 10, 10, 2}, false}, unorm565 = {{5, 6, 5, 0}, false};
template <class V> static inline uint pack(V v, const pack_layout &l) {
  uint out = 0;
  for (int i = 0, at = 0; i < int(lanes<V>::count); at += l.bits[i++]) {
    uint mask = (1u << l.bits[i]) - 1;
    float top = float(l.is_signed ? mask >> 1 : mask);
    out |= (uint(int(rint(clamp(float(v[i]), l.is_signed ? -1.0f : 0.0f, 1.0f) * top))) & mask) << at;
  }
  return out;
}
template <class V> static inline V unpack(uint v, const pack_layout &l) {
  V out = {};
  for (int i = 0, at = 0; i < int(lanes<V>::count); at += l.bits[i++]) {
    uint mask = (1u << l.bits[i]) - 1, field = v >> at & mask;
    float f = l.is_signed ? fmax(float(int(field << (32 - l.bits[i])) >> (32 - l.bits[i])) / float(mask >> 1), -1.0f) : float(field) / float(mask);
    out[i] = typename lanes<V>::elem(f);
  }
  return out;
}
template <class V> static inline V to_srgb(V v) {
  for (int i = 0; i < 3; ++i) {
    float c = saturate(float(v[i]));
    v[i] = typename lanes<V>::elem(c < 0.0031308f ? 12.92f * c : 1.055f * pow(c, 1.0f / 2.4f) - 0.055f);
  }
  return v;
}
template <class V> static inline V from_srgb(V v) {
  for (int i = 0; i < 3; ++i) {
    float c = float(v[i]);
    v[i] = typename lanes<V>::elem(c <= 0.04045f ? c / 12.92f : pow((c + 0.055f) / 1.055f, 2.4f));
  }
  return v;
}
}
namespace metal {
#endif
MSL_FLOATS(MSL_PACKS)
}
