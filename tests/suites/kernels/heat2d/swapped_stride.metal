// fault: kernel .heat_step. read from buffer 0 \(.u_a.\) at byte \d+, outside of its 16368 bytes: perhaps an unsigned index
// The roles of x and y exchanged in the index.
#include <metal_stdlib>
using namespace metal;

kernel void heat_step(device const float* u_in [[buffer(0)]],
                      device float* u_out [[buffer(1)]],
                      constant uint& NX [[buffer(2)]],
                      constant uint& NY [[buffer(3)]],
                      constant float& alpha [[buffer(4)]],
                      uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NX || gid.y >= NY) return;
    const uint i = gid.x * NX + gid.y;
    if (gid.x == 0 || gid.y == 0 || gid.x == NX - 1 || gid.y == NY - 1) { u_out[i] = u_in[i]; return; }
    u_out[i] = u_in[i] + alpha * (u_in[i - 1] + u_in[i + 1] + u_in[i - NY] + u_in[i + NY] - 4.0f * u_in[i]);
}
