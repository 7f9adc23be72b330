// Half a sweep of checkerboard Metropolis: the left half of the threads takes the sites of the colour, two columns apart.
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
    uint j = gid.y;
    if (gid.x >= NX / 2 || j >= NY) return;
    uint i = 2 * gid.x + ((j ^ step_idx) & 1);

    uint west = i == 0 ? NX - 1 : i - 1;
    uint east = i == NX - 1 ? 0 : i + 1;
    uint row = j * NX;
    uint south = j == 0 ? (NY - 1) * NX : row - NX;
    uint north = j == NY - 1 ? 0 : row + NX;
    int field = spins[row + west] + spins[row + east] + spins[south + i] + spins[north + i];
    int spin = spins[row + i];

    // Of the five probabilities the first three are 1.
    uint x = mix_bits(seed + step_idx * 0x9E3779B9u);
    x = mix_bits(x ^ (row + i));
    float u = float(x >> 8) * (1.0f / 16777216.0f);
    if (u < p_accept[(spin * field + 4) / 2]) {
        spins[row + i] = char(-spin);
    }
}
