// right
// Compares integers instead of floats: u < p exactly when the 24 bits are below ceil(p 2^24).
#include <metal_stdlib>
using namespace metal;

static inline uint mix_bits(uint x) {
    x ^= x >> 16; x *= 0x85EBCA6Bu;
    x ^= x >> 13; x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
}

kernel void ising_step(device char* spins [[buffer(0)]],
                       device const float* p_accept [[buffer(1)]],
                       constant uint& NX [[buffer(2)]],
                       constant uint& NY [[buffer(3)]],
                       constant uint& step_idx [[buffer(4)]],
                       constant uint& seed [[buffer(5)]],
                       uint2 gid [[thread_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
    constexpr uint golden = 0x9E3779B9u;
    const uint2 n = uint2(NX, NY);
    const uint stream = simd_broadcast_first(mix_bits(seed + step_idx * golden));
    if (any(gid >= n)) return;
    if (((gid.x + gid.y) & 1) != (step_idx & 1)) return;
    const uint row = gid.y * n.x, site = row + gid.x;
    const char4 around = char4(spins[row + (gid.x + n.x - 1) % n.x], spins[row + (gid.x + 1) % n.x],
                               spins[((gid.y + n.y - 1) % n.y) * n.x + gid.x], spins[((gid.y + 1) % n.y) * n.x + gid.x]);
    const int h = around.x + around.y + around.z + around.w;
    const char s = spins[site];
    const uint bits = mix_bits(stream ^ site) >> 8;
    const uint threshold = uint(ceil(p_accept[(s * h + 4) / 2] * 16777216.0f));
    if (bits < threshold) spins[site] = -s;
}
