// wrong: elements differ
// The parameter is dead, its usual value written in.
#include <metal_stdlib>
using namespace metal;

kernel void wave_step(device const float* u_prev [[buffer(0)]],
                      device const float* u_curr [[buffer(1)]],
                      device float* u_next [[buffer(2)]],
                      constant uint& NX [[buffer(3)]],
                      constant uint& NY [[buffer(4)]],
                      constant uint& NZ [[buffer(5)]],
                      constant float& alpha [[buffer(6)]],
                      uint3 gid [[thread_position_in_grid]]) {
    if (gid.x >= NX || gid.y >= NY || gid.z >= NZ) return;
    const uint plane = NX * NY, i = gid.z * plane + gid.y * NX + gid.x;
    const float c = u_curr[i];
    if (gid.x == 0 || gid.y == 0 || gid.z == 0 || gid.x == NX - 1 || gid.y == NY - 1 || gid.z == NZ - 1) { u_next[i] = c; return; }
    u_next[i] = 2.0f * c - u_prev[i] +
                0.18f * (u_curr[i - 1] + u_curr[i + 1] + u_curr[i - NX] + u_curr[i + NX] + u_curr[i - plane] + u_curr[i + plane] - 6.0f * c);
}
