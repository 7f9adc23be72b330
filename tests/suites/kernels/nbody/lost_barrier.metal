// wrong: elements differ
// No barrier after a tile's use, so simdgroups overwrite it while others still read.
#include <metal_stdlib>
using namespace metal;

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
    threadgroup float4 tile[128];
    const float3 self = i < N ? pos_in[i].xyz : float3(0);
    float3 acc = float3(0);
    for (uint base = 0; base < N; base += 128) {
        const uint j = base + t;
        tile[t] = j < N ? float4(pos_in[j].xyz, mass[j]) : float4(0);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < 128; ++k) {
            const float3 r = tile[k].xyz - self;
            const float inv = rsqrt(dot(r, r) + eps * eps);
            acc += tile[k].w * inv * inv * inv * r;
        }
    }
    if (i >= N) return;
    const float3 v = vel_in[i].xyz + G * acc * dt;
    vel_out[i] = float4(v, 0);
    pos_out[i] = float4(self + v * dt, 0);
}
