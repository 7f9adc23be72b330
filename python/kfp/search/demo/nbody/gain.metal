// One step of softened gravity by direct summation: a reciprocal square root for the law, G taken in at the end.
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
    float3 position = pos_in[i].xyz;
    float eps2 = eps * eps;
    float3 acceleration = float3(0.0f);
    for (uint j = 0; j < N; ++j) {
        float3 offset = pos_in[j].xyz - position;
        float inverse = rsqrt(dot(offset, offset) + eps2);
        acceleration += (mass[j] * inverse * inverse * inverse) * offset;
    }
    float3 velocity = vel_in[i].xyz + (G * dt) * acceleration;
    vel_out[i] = float4(velocity, 0.0f);
    pos_out[i] = float4(position + velocity * dt, 0.0f);
}
