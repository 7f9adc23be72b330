// wrong: spins differ
// Recomputes the probabilities for one fixed temperature instead of reading the table.
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
                       uint2 gid [[thread_position_in_grid]]) {
    const uint i = gid.x, j = gid.y;
    if (i >= NX || j >= NY || ((i + j + step_idx) & 1u)) return;
    const int s = spins[j * NX + i];
    const int h = spins[j * NX + (i + NX - 1) % NX] + spins[j * NX + (i + 1) % NX] + spins[((j + NY - 1) % NY) * NX + i] +
                  spins[((j + 1) % NY) * NX + i];
    const uint x = mix_bits(mix_bits(seed + step_idx * 0x9E3779B9u) ^ (j * NX + i));
    if (float(x >> 8) * (1.0f / 16777216.0f) < exp(-2.0f * 0.44f * float(s * h))) spins[j * NX + i] = char(-s);
}
