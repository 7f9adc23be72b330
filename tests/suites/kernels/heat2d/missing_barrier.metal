// wrong: expected .*, got nan
// Reads the tile without waiting for the simdgroups that fill it.
#include <metal_stdlib>
using namespace metal;

kernel void heat_step(device const float* u_in [[buffer(0)]],
                      device float* u_out [[buffer(1)]],
                      constant uint& NX [[buffer(2)]],
                      constant uint& NY [[buffer(3)]],
                      constant float& alpha [[buffer(4)]],
                      uint2 gid [[thread_position_in_grid]],
                      uint2 tid [[thread_position_in_threadgroup]]) {
    threadgroup float tile[16][16];
    const bool inside = gid.x < NX && gid.y < NY;
    if (inside) tile[tid.y][tid.x] = u_in[gid.y * NX + gid.x];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (!inside) return;
    const uint i = gid.y * NX + gid.x;
    const float c = tile[tid.y][tid.x];
    if (gid.x == 0 || gid.y == 0 || gid.x == NX - 1 || gid.y == NY - 1) { u_out[i] = c; return; }
    const float w = tid.x > 0 ? tile[tid.y][tid.x - 1] : u_in[i - 1];
    const float e = tid.x < 15 ? tile[tid.y][tid.x + 1] : u_in[i + 1];
    const float n = tid.y > 0 ? tile[tid.y - 1][tid.x] : u_in[i - NX];
    const float s = tid.y < 15 ? tile[tid.y + 1][tid.x] : u_in[i + NX];
    u_out[i] = c + alpha * (w + e + n + s - 4.0f * c);
}
