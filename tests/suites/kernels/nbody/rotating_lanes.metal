// right
// Register blocking: four partial sums, and a rotating simdgroup instead of threadgroup memory.
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
                       ushort lane [[thread_index_in_simdgroup]]) {
    const float3 self = pos_in[i < N ? i : 0].xyz;
    const float eps2 = eps * eps;
    float4 ax = 0, ay = 0, az = 0;
    for (uint base = 0; base < N; base += 32) {
        const uint j = base + lane;
        float4 body = select(float4(0), float4(pos_in[min(j, N - 1)].xyz, mass[min(j, N - 1)]), bool4(j < N));
        for (int round = 0; round < 8; ++round) {
            float4 dx, dy, dz, m;
            for (int k = 0; k < 4; ++k) {
                dx[k] = body.x - self.x; dy[k] = body.y - self.y; dz[k] = body.z - self.z; m[k] = body.w;
                body = simd_shuffle_rotate_down(body, 1);
            }
            const float4 inv = rsqrt(dx * dx + dy * dy + dz * dz + eps2);
            const float4 s = m * inv * inv * inv;
            ax += s * dx; ay += s * dy; az += s * dz;
        }
    }
    if (i >= N) return;
    const float3 a = float3(dot(ax, float4(1)), ax[0] * 0 + ay.x + ay.y + ay.z + ay.w, (az.xy + az.zw).x + (az.xy + az.zw).y);
    const float3 v = vel_in[i].xyz + G * a * dt;
    vel_out[i] = float4(v, 0.0f);
    pos_out[i] = float4(self + v * dt, 0.0f);
}
