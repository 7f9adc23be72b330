#include <metal_stdlib>
using namespace metal;

#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))
#define CH(x, y, z) (((x) & (y)) ^ (~(x) & (z)))
#define MAJ(x, y, z) (((x) & (y)) ^ ((x) & (z)) ^ ((y) & (z)))
#define EP0(x) (ROTR(x, 2) ^ ROTR(x, 13) ^ ROTR(x, 22))
#define EP1(x) (ROTR(x, 6) ^ ROTR(x, 11) ^ ROTR(x, 25))
#define SIG0(x) (ROTR(x, 7) ^ ROTR(x, 18) ^ ((x) >> 3))
#define SIG1(x) (ROTR(x, 17) ^ ROTR(x, 19) ^ ((x) >> 10))

constant uint32_t K[16] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
                           0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174};

union Word {
    uint32_t word;
    uchar bytes[4];
};

enum class Mode : uint { single = 0, twice };

static void compress(thread uint32_t state[8], thread const uint32_t* block) {
    uint32_t w[64];
    for (ushort i = 0; i < 16; ++i) w[i] = block[i];
    for (ushort i = 16; i < 64; ++i) w[i] = SIG1(w[i - 2]) + w[i - 7] + SIG0(w[i - 15]) + w[i - 16];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
    for (ushort i = 0; i < 64; ++i) {
        uint32_t t1 = h + EP1(e) + CH(e, f, g) + K[i & 15] + w[i];
        uint32_t t2 = EP0(a) + MAJ(a, b, c);
        h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
    }
    state[0] += a; state[1] += b; state[2] += c; state[3] += d; state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

kernel void sha(device const uint32_t* messages [[buffer(0)]], device uint32_t* digests [[buffer(1)]], constant uint32_t& mode [[buffer(2)]],
                uint gid [[thread_position_in_grid]]) {
    uint32_t state[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    uint32_t block[16];
    for (int i = 0; i < 16; i++) {
        Word in, swapped;
        in.word = messages[gid * 16 + i];
        for (int b = 0; b < 4; b++) swapped.bytes[b] = in.bytes[3 - b];
        block[i] = swapped.word;
    }
    switch (static_cast<Mode>(mode)) {
        case Mode::twice:
            compress(state, block);
            [[fallthrough]];
        case Mode::single:
            compress(state, block);
            break;
        default: break;
    }
    for (int i = 0; i < 8; i++) digests[gid * 8 + i] = state[i];
}
