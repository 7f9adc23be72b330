// The Keccak sponge on one-block messages, one thread per message.
#include <metal_stdlib>
using namespace metal;

constant ulong ROUND_CONSTANTS[24] = {
    0x0000000000000001ul, 0x0000000000008082ul, 0x800000000000808aul, 0x8000000080008000ul,
    0x000000000000808bul, 0x0000000080000001ul, 0x8000000080008081ul, 0x8000000000008009ul,
    0x000000000000008aul, 0x0000000000000088ul, 0x0000000080008009ul, 0x000000008000000aul,
    0x000000008000808bul, 0x800000000000008bul, 0x8000000000008089ul, 0x8000000000008003ul,
    0x8000000000008002ul, 0x8000000000000080ul, 0x000000000000800aul, 0x800000008000000aul,
    0x8000000080008081ul, 0x8000000000008080ul, 0x0000000080000001ul, 0x8000000080008008ul,
};

// Rotation of lane x + 5 y.
constant uint OFFSETS[25] = {
    0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
};

static ulong rotate_left(ulong value, uint by) {
    return by == 0 ? value : (value << by) | (value >> (64 - by));
}

static void keccak_f1600(thread ulong* state) {
    for (uint round = 0; round < 24; ++round) {
        ulong parity[5];
        for (uint x = 0; x < 5; ++x) {
            parity[x] = state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20];
        }
        for (uint x = 0; x < 5; ++x) {
            ulong change = parity[(x + 4) % 5] ^ rotate_left(parity[(x + 1) % 5], 1);
            for (uint y = 0; y < 5; ++y) state[x + 5 * y] ^= change;
        }
        ulong moved[25];
        for (uint y = 0; y < 5; ++y) {
            for (uint x = 0; x < 5; ++x) {
                moved[y + 5 * ((2 * x + 3 * y) % 5)] = rotate_left(state[x + 5 * y], OFFSETS[x + 5 * y]);
            }
        }
        for (uint y = 0; y < 5; ++y) {
            for (uint x = 0; x < 5; ++x) {
                state[x + 5 * y] = moved[x + 5 * y] ^ (~moved[(x + 1) % 5 + 5 * y] & moved[(x + 2) % 5 + 5 * y]);
            }
        }
        state[0] ^= ROUND_CONSTANTS[round];
    }
}

kernel void keccak_f1600_batch(device const ulong* in_data [[buffer(0)]],
                               device ulong* out_data [[buffer(1)]],
                               constant uint& batch [[buffer(2)]],
                               constant uint& msg_bytes [[buffer(3)]],
                               constant uint& rate_bytes [[buffer(4)]],
                               constant uint& out_bytes [[buffer(5)]],
                               constant uint& domain [[buffer(6)]],
                               uint idx [[thread_position_in_grid]]) {
    if (idx >= batch) return;
    uint message_lanes = msg_bytes / 8;
    uint rate_lanes = rate_bytes / 8;
    uint out_lanes = out_bytes / 8;

    ulong state[25];
    for (uint i = 0; i < 25; ++i) state[i] = 0;
    for (uint i = 0; i < message_lanes; ++i) state[i] = in_data[idx * message_lanes + i];
    state[message_lanes] ^= ulong(domain);
    state[rate_lanes - 1] ^= 0x8000000000000000ul;

    keccak_f1600(state);
    for (uint i = 0; i < out_lanes; ++i) {
        if (i != 0 && i % rate_lanes == 0) keccak_f1600(state);
        out_data[idx * out_lanes + i] = state[i % rate_lanes];
    }
}
