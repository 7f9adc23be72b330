// right
// An 18x18 tile of bytes in threadgroup memory; the acceptance table in registers, chosen by selects.
#include <metal_stdlib>
using namespace metal;

static inline uint mix_bits(uint x) {
    x ^= x >> 16; x *= 0x85EBCA6Bu;
    x ^= x >> 13; x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
}

[[max_total_threads_per_threadgroup(256)]]
kernel void ising_step(device char* spins [[buffer(0)]],
                       device const float* p_accept [[buffer(1)]],
                       constant uint& NX [[buffer(2)]],
                       constant uint& NY [[buffer(3)]],
                       constant uint& step_idx [[buffer(4)]],
                       constant uint& seed [[buffer(5)]],
                       uint2 gid [[thread_position_in_grid]],
                       ushort2 lid [[thread_position_in_threadgroup]],
                       ushort2 tgs [[threads_per_threadgroup]]) {
    threadgroup char tile[18 * 18];
    const int2 n = int2(NX, NY);
    const ushort flat = lid.y * tgs.x + lid.x;
    const int2 corner = int2(gid - uint2(lid)) - 1;
    for (ushort k = flat; k < 18 * 18; k += tgs.x * tgs.y) {
        int2 at = corner + int2(k % 18, k / 18);
        at.x = at.x < 0 ? n.x - 1 : at.x >= n.x ? at.x - n.x : at.x;
        at.y = at.y < 0 ? n.y - 1 : at.y >= n.y ? at.y - n.y : at.y;
        at = clamp(at, 0, n - 1);
        tile[k] = spins[at.y * n.x + at.x];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint i = gid.x, j = gid.y;
    if (i >= NX || j >= NY) return;
    if (((i ^ j ^ step_idx) & 1u) != 0) return;
    const ushort c = (lid.y + 1) * 18 + lid.x + 1;
    const int s = tile[c];
    const int h = tile[c - 1] + tile[c + 1] + tile[c - 18] + tile[c + 18];
    const int e = s * h;
    const float2 rare = float2(p_accept[3], p_accept[4]);
    const float p = e <= 0 ? 1.0f : select(rare.x, rare.y, e == 4);
    const uint x = mix_bits(mix_bits(seed + step_idx * 0x9E3779B9u) ^ (j * NX + i));
    const float u = float(x >> 8) * (1.0f / 16777216.0f);
    spins[j * NX + i] = char(u < p ? -s : s);
}
