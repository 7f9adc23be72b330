// right
// Each lane loads one body; the simdgroup passes them round with simd_broadcast and simd_shuffle.
#include <metal_stdlib>
using namespace metal;

inline float3 pull(float3 self, float4 body, float eps2) {
    float3 r = body.xyz - self;
    float inv = rsqrt(dot(r, r) + eps2);
    return (body.w * inv * inv * inv) * r;
}

kernel void nbody_step(device const float4* pos_in [[buffer(0)]],
                       device float4* pos_out [[buffer(1)]],
                       device const float4* vel_in [[buffer(2)]],
                       device float4* vel_out [[buffer(3)]],
                       device const float* mass [[buffer(4)]],
                       constant uint& N [[buffer(5)]],
                       constant float& dt [[buffer(6)]],
                       constant float& eps [[buffer(7)]],
                       constant float& G [[buffer(8)]],
                       uint i [[thread_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint width [[threads_per_simdgroup]]) {
    const uint me = min(i, N - 1);
    const float3 self = pos_in[me].xyz;
    const float eps2 = eps * eps;
    float3 acc(0.0f);
    uint base = 0;
    for (; base + width <= N; base += width) {
        const float4 mine(pos_in[base + lane].xyz, mass[base + lane]);
        for (ushort k = 0; k < 32; k += 2) {
            acc += pull(self, simd_broadcast(mine, k), eps2);
            acc += pull(self, simd_shuffle(mine, ushort(k + 1)), eps2);
        }
    }
    for (uint j = base; j < N; ++j) acc += pull(self, float4(pos_in[j].xyz, mass[j]), eps2);
    if (i >= N) return;
    const float3 v = vel_in[i].xyz + (G * acc) * dt;
    vel_out[i] = float4(v, 0);
    pos_out[i] = float4(self + v * dt, 0);
}
