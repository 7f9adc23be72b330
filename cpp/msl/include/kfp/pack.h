// Metal's packing functions: normalised numbers of a few bits, the first component in the lowest bits.
#ifndef KFP_PACK_H
#define KFP_PACK_H

#include "common.h"
#include "math.h"

namespace __kfp {

KFP_CONSTEXPR float from_unorm(uint bits, int width) {
    const uint highest = (1u << width) - 1u;
    return (float)(bits & highest) / (float)highest;
}
KFP_CONSTEXPR float from_snorm(uint bits, int width) {
    const int value = (int)(bits << (32 - width)) >> (32 - width);
    return greater((float)value / (float)((1 << (width - 1)) - 1), -1.0f);
}
KFP_INLINE uint to_unorm(float x, int width) {
    return (uint)__builtin_elementwise_rint(float_saturate(x) * (float)((1u << width) - 1u));
}
KFP_INLINE uint to_snorm(float x, int width) {
    const float scale = (float)((1 << (width - 1)) - 1);
    const int value = (int)__builtin_elementwise_rint(float_clamp(x, -1.0f, 1.0f) * scale);
    return (uint)value & ((1u << width) - 1u);
}

KFP_INLINE float from_srgb(float x) {
    return x <= 0.04045f ? x / 12.92f : metal::precise::powr((x + 0.055f) / 1.055f, 2.4f);
}
KFP_INLINE float to_srgb(float x) {
    return x <= 0.0031308f ? x * 12.92f : 1.055f * metal::precise::powr(x, 1.0f / 2.4f) - 0.055f;
}

KFP_CONSTEXPR float4 unpack_unorm4x8(uint p) {
    return {from_unorm(p, 8), from_unorm(p >> 8, 8), from_unorm(p >> 16, 8), from_unorm(p >> 24, 8)};
}
KFP_CONSTEXPR float4 unpack_snorm4x8(uint p) {
    return {from_snorm(p, 8), from_snorm(p >> 8, 8), from_snorm(p >> 16, 8), from_snorm(p >> 24, 8)};
}
KFP_INLINE float4 unpack_unorm4x8_srgb(uint p) {
    const float4 v = unpack_unorm4x8(p);
    return {from_srgb(v.x), from_srgb(v.y), from_srgb(v.z), v.w};
}
KFP_CONSTEXPR float2 unpack_unorm2x16(uint p) { return {from_unorm(p, 16), from_unorm(p >> 16, 16)}; }
KFP_CONSTEXPR float2 unpack_snorm2x16(uint p) { return {from_snorm(p, 16), from_snorm(p >> 16, 16)}; }
KFP_CONSTEXPR float4 unpack_unorm10a2(uint p) {
    return {from_unorm(p, 10), from_unorm(p >> 10, 10), from_unorm(p >> 20, 10), from_unorm(p >> 30, 2)};
}
KFP_CONSTEXPR float3 unpack_unorm565(ushort p) {
    return {from_unorm(p, 5), from_unorm((uint)p >> 5, 6), from_unorm((uint)p >> 11, 5)};
}

KFP_INLINE uint pack_unorm4x8(float4 v) {
    return to_unorm(v.x, 8) | to_unorm(v.y, 8) << 8 | to_unorm(v.z, 8) << 16 | to_unorm(v.w, 8) << 24;
}
KFP_INLINE uint pack_snorm4x8(float4 v) {
    return to_snorm(v.x, 8) | to_snorm(v.y, 8) << 8 | to_snorm(v.z, 8) << 16 | to_snorm(v.w, 8) << 24;
}
KFP_INLINE uint pack_srgb_unorm4x8(float4 v) {
    v = float_saturate(v);
    return pack_unorm4x8(float4(to_srgb(v.x), to_srgb(v.y), to_srgb(v.z), v.w));
}
KFP_INLINE uint pack_unorm2x16(float2 v) { return to_unorm(v.x, 16) | to_unorm(v.y, 16) << 16; }
KFP_INLINE uint pack_snorm2x16(float2 v) { return to_snorm(v.x, 16) | to_snorm(v.y, 16) << 16; }
KFP_INLINE uint pack_unorm10a2(float4 v) {
    return to_unorm(v.x, 10) | to_unorm(v.y, 10) << 10 | to_unorm(v.z, 10) << 20 | to_unorm(v.w, 2) << 30;
}
KFP_INLINE ushort pack_unorm565(float3 v) {
    return (ushort)(to_unorm(v.x, 5) | to_unorm(v.y, 6) << 5 | to_unorm(v.z, 5) << 11);
}

}  // namespace __kfp

namespace metal {

#define KFP_PACKING(format, packed, N) \
    KFP_INLINE float##N unpack_##format##_to_float(packed p) { return __kfp::unpack_##format(p); } \
    KFP_INLINE half##N unpack_##format##_to_half(packed p) { return half##N(__kfp::unpack_##format(p)); } \
    KFP_INLINE packed pack_float_to_##format(float##N v) { return __kfp::pack_##format(v); } \
    KFP_INLINE packed pack_half_to_##format(half##N v) { return __kfp::pack_##format(float##N(v)); }
KFP_PACKING(unorm4x8, uint, 4)
KFP_PACKING(snorm4x8, uint, 4)
KFP_PACKING(unorm2x16, uint, 2)
KFP_PACKING(snorm2x16, uint, 2)
KFP_PACKING(unorm10a2, uint, 4)
KFP_PACKING(unorm565, ushort, 3)
#undef KFP_PACKING

KFP_INLINE float4 unpack_unorm4x8_srgb_to_float(uint p) { return __kfp::unpack_unorm4x8_srgb(p); }
KFP_INLINE half4 unpack_unorm4x8_srgb_to_half(uint p) { return half4(__kfp::unpack_unorm4x8_srgb(p)); }
KFP_INLINE uint pack_float_to_srgb_unorm4x8(float4 v) { return __kfp::pack_srgb_unorm4x8(v); }
KFP_INLINE uint pack_half_to_srgb_unorm4x8(half4 v) { return __kfp::pack_srgb_unorm4x8(float4(v)); }

}  // namespace metal

#endif
