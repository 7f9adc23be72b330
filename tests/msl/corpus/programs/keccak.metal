#include <metal_stdlib>
using namespace metal;

constant ulong RC[24] = {
    0x0000000000000001UL, 0x0000000000008082UL, 0x800000000000808aUL, 0x8000000080008000UL, 0x000000000000808bUL, 0x0000000080000001UL,
    0x8000000080008081UL, 0x8000000000008009UL, 0x000000000000008aUL, 0x0000000000000088UL, 0x0000000080008009UL, 0x000000008000000aUL,
    0x000000008000808bUL, 0x800000000000008bUL, 0x8000000000008089UL, 0x8000000000008003UL, 0x8000000000008002UL, 0x8000000000000080UL,
    0x000000000000800aUL, 0x800000008000000aUL, 0x8000000080008081UL, 0x8000000000008080UL, 0x0000000080000001UL, 0x8000000080008008UL};
constant int ROTC[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
constant uchar PILN[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};

#define ROTL64(x, y) (((x) << (y)) | ((x) >> (64 - (y))))

inline void keccakf(thread ulong* st) {
    ulong bc[5];
    for (int round = 0; round < 24; round++) {
        for (int i = 0; i < 5; i++) bc[i] = st[i] ^ st[i + 5] ^ st[i + 10] ^ st[i + 15] ^ st[i + 20];
        for (int i = 0; i < 5; i++) {
            ulong t = bc[(i + 4) % 5] ^ ROTL64(bc[(i + 1) % 5], 1);
            for (int j = 0; j < 25; j += 5) st[j + i] ^= t;
        }
        ulong t = st[1];
#pragma unroll
        for (int i = 0; i < 24; i++) {
            int j = PILN[i];
            bc[0] = st[j];
            st[j] = rotate(t, (ulong)ROTC[i]);
            t = bc[0];
        }
        for (int j = 0; j < 25; j += 5) {
            for (int i = 0; i < 5; i++) bc[i] = st[j + i];
            for (int i = 0; i < 5; i++) st[j + i] ^= (~bc[(i + 1) % 5]) & bc[(i + 2) % 5];
        }
        st[0] ^= RC[round];
    }
}

kernel void keccak256(device const uchar* message [[buffer(0)]], device uchar* digest [[buffer(1)]], constant uint& length [[buffer(2)]],
                      uint gid [[thread_position_in_grid]]) {
    ulong st[25] = {0};
    const device uchar* msg = message + gid * length;
    const uint rate = 136;
    uint remaining = length;
    while (remaining >= rate) {
        for (uint i = 0; i < rate / 8; ++i) st[i] ^= ((const device ulong*)msg)[i];
        keccakf(st);
        msg += rate;
        remaining -= rate;
    }
    uchar block[136];
    for (uint i = 0; i < rate; ++i) block[i] = i < remaining ? msg[i] : 0;
    block[remaining] ^= 0x01;
    block[rate - 1] ^= 0x80;
    for (uint i = 0; i < rate / 8; ++i) {
        ulong lane = 0;
        for (uint b = 0; b < 8; ++b) lane |= ulong(block[i * 8 + b]) << (8 * b);
        st[i] ^= lane;
    }
    keccakf(st);
    device ulong* out = reinterpret_cast<device ulong*>(digest + gid * 32);
    for (uint i = 0; i < 4; ++i) out[i] = st[i];
}
