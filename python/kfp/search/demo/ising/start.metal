// Half a sweep of checkerboard Metropolis, one thread per site: neighbours wrap by division, and every site draws its
// random number before its colour is looked at.
#include <metal_stdlib>
using namespace metal;

static uint mix_bits(uint x) {
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    x ^= x >> 16;
    return x;
}

kernel void ising_step(device char* spins [[buffer(0)]],
                       device const float* p_accept [[buffer(1)]],
                       constant uint& NX [[buffer(2)]],
                       constant uint& NY [[buffer(3)]],
                       constant uint& step_idx [[buffer(4)]],
                       constant uint& seed [[buffer(5)]],
                       uint2 gid [[thread_position_in_grid]]) {
    uint i = gid.x;
    uint j = gid.y;
    if (i >= NX || j >= NY) return;
    uint x = mix_bits(seed + step_idx * 0x9E3779B9u);
    x = mix_bits(x ^ (j * NX + i));
    float u = float(x >> 8) / 16777216.0f;
    uint west = (i + NX - 1) % NX;
    uint east = (i + 1) % NX;
    uint south = (j + NY - 1) % NY;
    uint north = (j + 1) % NY;
    if (((i + j) & 1) != (step_idx & 1)) return;
    int field = spins[j * NX + west] + spins[j * NX + east] + spins[south * NX + i] + spins[north * NX + i];
    int spin = spins[j * NX + i];
    if (u < p_accept[(spin * field + 4) / 2]) {
        spins[j * NX + i] = char(-spin);
    }
}
