// right
// West and east from the neighbouring lanes: a simdgroup is two rows of 16 cells.
#include <metal_stdlib>
using namespace metal;

kernel void heat_step(device const float* __restrict u_in [[buffer(0)]],
                      device float* __restrict u_out [[buffer(1)]],
                      constant uint& NX [[buffer(2)]],
                      constant uint& NY [[buffer(3)]],
                      constant float& alpha [[buffer(4)]],
                      uint2 gid [[thread_position_in_grid]],
                      uint2 tid [[thread_position_in_threadgroup]],
                      uint2 tgs [[threads_per_threadgroup]]) {
    const uint nx = NX, ny = NY;
    const bool inside = gid.x < nx && gid.y < ny;
    const uint idx = gid.y * nx + gid.x;
    const float c = inside ? u_in[idx] : 0.0f;
    float w = simd_shuffle_up(c, 1);
    float e = simd_shuffle_down(c, ushort(1));
    if (!inside) return;
    const bool interior = gid.x > 0 && gid.x + 1 < nx && gid.y > 0 && gid.y + 1 < ny;
    if (!interior) { u_out[idx] = c; return; }
    if (tid.x == 0) w = u_in[idx - 1];
    if (tid.x == tgs.x - 1) e = u_in[idx + 1];
    u_out[idx] = c + alpha * (((w + e) + (u_in[idx - nx] + u_in[idx + nx])) - 4.0f * c);
}
