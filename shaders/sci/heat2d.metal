// One explicit step of the heat equation on a plane, one thread per cell; edge cells copy through.
#include <metal_stdlib>
using namespace metal;

kernel void heat_step(device const float* u_in [[buffer(0)]],
                      device float* u_out [[buffer(1)]],
                      constant uint& NX [[buffer(2)]],
                      constant uint& NY [[buffer(3)]],
                      constant float& alpha [[buffer(4)]],
                      uint2 gid [[thread_position_in_grid]]) {
    uint i = gid.x;
    uint j = gid.y;
    if (i >= NX || j >= NY) return;
    uint cell = j * NX + i;
    float u = u_in[cell];
    if (i == 0 || j == 0 || i == NX - 1 || j == NY - 1) {
        u_out[cell] = u;
        return;
    }
    float neighbours = u_in[cell - 1] + u_in[cell + 1] + u_in[cell - NX] + u_in[cell + NX];
    u_out[cell] = u + alpha * (neighbours - 4.0f * u);
}
