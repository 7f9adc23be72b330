// right
// Moments through vectors and a matrix; the nine directions as constant arrays of small vectors.
#include <metal_stdlib>
using namespace metal;

constant int2 DIRECTION[9] = {int2(0, 0), int2(1, 0), int2(0, 1), int2(-1, 0), int2(0, -1), int2(1, 1), int2(-1, 1), int2(-1, -1), int2(1, -1)};
constant constexpr float WEIGHT[3] = {4.0f / 9.0f, 1.0f / 9.0f, 1.0f / 36.0f};

kernel void lbm_step(device const float* f_in [[buffer(0)]],
                     device float* f_out [[buffer(1)]],
                     constant uint& NX [[buffer(2)]],
                     constant uint& NY [[buffer(3)]],
                     constant float& tau [[buffer(4)]],
                     uint2 gid [[thread_position_in_grid]]) {
    if (any(gid >= uint2(NX, NY))) return;
    const int2 extent = int2(NX, NY);
    const ulong plane = ulong(NX) * NY;
    float f[9];
    for (int k = 0; k < 9; ++k) {
        const int2 from = (int2(gid) - DIRECTION[k] + extent) % extent;
        f[k] = f_in[k * plane + from.y * extent.x + from.x];
    }
    const float4 straight = float4(f[1], f[2], f[3], f[4]);
    const float4 slanted = float4(f[5], f[6], f[7], f[8]);
    const float4x2 to_straight = float4x2(float2(1, 0), float2(0, 1), float2(-1, 0), float2(0, -1));
    const float4x2 to_slanted = float4x2(float2(1, 1), float2(-1, 1), float2(-1, -1), float2(1, -1));
    const float rho = f[0] + dot(straight, float4(1)) + dot(slanted, float4(1));
    const float2 u = (to_straight * straight + to_slanted * slanted) / rho;
    const float4 along_straight = u * to_straight, along_slanted = u * to_slanted;
    const float rest = 1.0f - 1.5f * length_squared(u);
    const float4 e1 = WEIGHT[1] * rho * (rest + along_straight * (3.0f + 4.5f * along_straight));
    const float4 e2 = WEIGHT[2] * rho * (rest + along_slanted * (3.0f + 4.5f * along_slanted));
    const float t = 1.0f / tau;
    const uint cell = gid.y * NX + gid.x;
    f_out[cell] = mix(f[0], WEIGHT[0] * rho * rest, t);
    const float4 o1 = mix(straight, e1, t), o2 = mix(slanted, e2, float4(t));
    for (uint k = 0; k < 4; ++k) {
        f_out[(k + 1) * plane + cell] = o1[k];
        f_out[(k + 5) * plane + cell] = o2[k];
    }
}
