// wrong: elements differ
// The bodies after the last whole tile pull nobody.
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
                       uint i [[thread_position_in_grid]]) {
    if (i >= N) return;
    const float3 self = pos_in[i].xyz;
    float3 acc = float3(0);
    for (uint j = 0; j < (N & ~127u); ++j) {
        const float3 r = pos_in[j].xyz - self;
        const float inv = rsqrt(dot(r, r) + eps * eps);
        acc += mass[j] * inv * inv * inv * r;
    }
    const float3 v = vel_in[i].xyz + G * acc * dt;
    vel_out[i] = float4(v, 0);
    pos_out[i] = float4(self + v * dt, 0);
}
