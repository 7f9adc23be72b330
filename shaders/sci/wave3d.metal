// One leapfrog step of the wave equation in a box, one thread per cell; face cells copy through.
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
    uint plane = NX * NY;
    uint cell = gid.z * plane + gid.y * NX + gid.x;
    float u = u_curr[cell];
    bool on_face = gid.x == 0 || gid.y == 0 || gid.z == 0 || gid.x == NX - 1 || gid.y == NY - 1 || gid.z == NZ - 1;
    if (on_face) {
        u_next[cell] = u;
        return;
    }
    float neighbours = u_curr[cell - 1] + u_curr[cell + 1] + u_curr[cell - NX] + u_curr[cell + NX] +
                       u_curr[cell - plane] + u_curr[cell + plane];
    u_next[cell] = 2.0f * u - u_prev[cell] + alpha * (neighbours - 6.0f * u);
}
