// right
// Two sites a thread: threads at even x own a char2 and update the site of the right colour.
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
    const uint i2 = gid.x, j = gid.y;
    if (i2 >= NX || j >= NY || (i2 & 1u)) return;
    const uint odd = (j + step_idx) & 1u;
    const uint i = i2 + odd;
    const uint row = j * NX;
    const char2 pair = *(device const char2*)(spins + row + i2);
    const int s = pair[odd];
    const int across = pair[odd ^ 1u];
    const uint other = odd ? (i + 1 == NX ? 0 : i + 1) : (i == 0 ? NX - 1 : i - 1);
    const uint up = (j == 0 ? NY - 1 : j - 1) * NX, down = (j + 1 == NY ? 0 : j + 1) * NX;
    const int h = across + spins[row + other] + spins[up + i] + spins[down + i];
    uint x = mix_bits(seed + step_idx * 0x9E3779B9u);
    x = mix_bits(x ^ (row + i));
    const float u = float(x >> 8) * 0x1p-24f;
    if (u < p_accept[(s * h + 4) >> 1]) spins[row + i] = char(-s);
}
