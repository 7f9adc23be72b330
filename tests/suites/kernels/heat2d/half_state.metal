// wrong: elements differ
// Neighbours summed in half precision.
#include <metal_stdlib>
using namespace metal;

kernel void heat_step(device const float* u_in [[buffer(0)]],
                      device float* u_out [[buffer(1)]],
                      constant uint& NX [[buffer(2)]],
                      constant uint& NY [[buffer(3)]],
                      constant float& alpha [[buffer(4)]],
                      uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NX || gid.y >= NY) return;
    const uint i = gid.y * NX + gid.x;
    if (gid.x == 0 || gid.y == 0 || gid.x == NX - 1 || gid.y == NY - 1) { u_out[i] = u_in[i]; return; }
    const half c = half(u_in[i]);
    const half sum = half(u_in[i - 1]) + half(u_in[i + 1]) + half(u_in[i - NX]) + half(u_in[i + NX]);
    u_out[i] = float(c + half(alpha) * (sum - 4.0h * c));
}
