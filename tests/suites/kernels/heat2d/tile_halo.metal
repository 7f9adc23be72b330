// right
// An 18x18 tile with halo in threadgroup memory, loaded cooperatively.
#include <metal_stdlib>
using namespace metal;

#define TILE 16
#define PAD (TILE + 2)

[[max_total_threads_per_threadgroup(256)]]
kernel void heat_step(device const float* u_in [[buffer(0)]],
                      device float* u_out [[buffer(1)]],
                      constant uint& NX [[buffer(2)]],
                      constant uint& NY [[buffer(3)]],
                      constant float& alpha [[buffer(4)]],
                      uint2 gid [[thread_position_in_grid]],
                      uint2 tid [[thread_position_in_threadgroup]],
                      uint2 group [[threadgroup_position_in_grid]]) {
    threadgroup float tile[PAD][PAD];
    const int2 origin = int2(group) * TILE - 1;
    for (uint n = tid.y * TILE + tid.x; n < PAD * PAD; n += TILE * TILE) {
        const int2 local = int2(n % PAD, n / PAD);
        const int2 at = clamp(origin + local, int2(0), int2(NX, NY) - 1);
        tile[local.y][local.x] = u_in[at.y * int(NX) + at.x];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (gid.x >= NX || gid.y >= NY) return;

    const uint lx = tid.x + 1, ly = tid.y + 1;
    const float c = tile[ly][lx];
    const bool edge = any(gid == 0u) || gid.x == NX - 1 || gid.y == NY - 1;
    const float sum = tile[ly][lx - 1] + tile[ly][lx + 1] + tile[ly - 1][lx] + tile[ly + 1][lx];
    u_out[gid.y * NX + gid.x] = edge ? c : fma(alpha, fma(-4.0f, c, sum), c);
}
