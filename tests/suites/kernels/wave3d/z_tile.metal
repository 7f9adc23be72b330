// right
// An 8x8 tile with halo for each of the threadgroup's four planes.
#include <metal_stdlib>
using namespace metal;

constant constexpr int TX = 8, TY = 8, TZ = 4;

kernel void wave_step(device const float* u_prev [[buffer(0)]],
                      device const float* u_curr [[buffer(1)]],
                      device float* u_next [[buffer(2)]],
                      constant uint& NX [[buffer(3)]],
                      constant uint& NY [[buffer(4)]],
                      constant uint& NZ [[buffer(5)]],
                      constant float& alpha [[buffer(6)]],
                      uint3 gid [[thread_position_in_grid]],
                      uint3 lid [[thread_position_in_threadgroup]],
                      uint3 tg [[threadgroup_position_in_grid]],
                      uint flat [[thread_index_in_threadgroup]]) {
    threadgroup float tile[(TZ + 2) * (TY + 2) * (TX + 2)];
    const int3 n = int3(NX, NY, NZ);
    const int3 base = int3(tg) * int3(TX, TY, TZ) - int3(1);
    constexpr int total = (TX + 2) * (TY + 2) * (TZ + 2);
    for (int k = int(flat); k < total; k += TX * TY * TZ) {
        int3 l = int3(k % (TX + 2), (k / (TX + 2)) % (TY + 2), k / ((TX + 2) * (TY + 2)));
        int3 g = clamp(base + l, int3(0), n - 1);
        tile[k] = u_curr[(g.z * n.y + g.y) * n.x + g.x];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (any(gid >= uint3(n))) return;
    const int sx = 1, sy = TX + 2, sz = (TX + 2) * (TY + 2);
    const int c = (int(lid.z) + 1) * sz + (int(lid.y) + 1) * sy + int(lid.x) + 1;
    const uint out = (gid.z * NY + gid.y) * NX + gid.x;
    const float u = tile[c];
    if (any(gid == uint3(0)) || any(gid == uint3(n) - 1u)) {
        u_next[out] = u;
    } else {
        const float lap = tile[c - sx] + tile[c + sx] + tile[c - sy] + tile[c + sy] + tile[c - sz] + tile[c + sz] - 6.0f * u;
        u_next[out] = 2.0f * u - u_prev[out] + alpha * lap;
    }
}
