// right
// Tiles of 128 bodies in threadgroup memory, padded with massless ones; unrolled by eight.
#include <metal_stdlib>
using namespace metal;

#define TG 128

[[max_total_threads_per_threadgroup(TG)]]
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
                       uint t [[thread_position_in_threadgroup]]) {
    threadgroup float4 tile[TG];
    const bool alive = i < N;
    const float3 self = alive ? pos_in[i].xyz : float3(0.0f);
    const float eps2 = eps * eps;
    float3 acc = 0.0f;
    for (uint base = 0; base < N; base += TG) {
        const uint j = base + t;
        tile[t] = j < N ? float4(pos_in[j].xyz, mass[j]) : float4(0.0f);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        #pragma clang loop unroll_count(8)
        for (uint k = 0; k < TG; ++k) {
            const float4 body = tile[k];
            const float3 r = body.xyz - self;
            const float inv = fast::rsqrt(fma(r.x, r.x, fma(r.y, r.y, fma(r.z, r.z, eps2))));
            acc = fma(float3(body.w * (inv * inv) * inv), r, acc);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (!alive) return;
    float3 v = vel_in[i].xyz;
    v += G * dt * acc;
    vel_out[i] = float4(v, 0.0f);
    pos_out[i] = float4(fma(v, dt, self), 0.0f);
}
