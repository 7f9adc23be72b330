// The Poseidon2 permutation, one state per thread, with products bit by bit.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MAX_T = 4;
constant constexpr ulong P = 0xFFFFFFFF00000001ul;

static ulong add(ulong a, ulong b) {
    ulong room = P - b;
    return a >= room ? a - room : a + b;
}

static ulong multiply(ulong a, ulong b) {
    ulong sum = 0;
    for (int bit = 63; bit >= 0; --bit) {
        sum = add(sum, sum);
        if ((b >> bit) & 1) sum = add(sum, a);
    }
    return sum;
}

static ulong seventh_power(ulong x) {
    ulong square = multiply(x, x);
    return multiply(multiply(square, square), multiply(square, x));
}

static void multiply_by_matrix(thread ulong* state, device const ulong* ext_mds, uint t) {
    ulong product[MAX_T];
    for (uint i = 0; i < t; ++i) {
        product[i] = 0;
        for (uint j = 0; j < t; ++j) product[i] = add(product[i], multiply(ext_mds[i * t + j], state[j]));
    }
    for (uint i = 0; i < t; ++i) state[i] = product[i];
}

static void permute(thread ulong* state, device const ulong* rc_ext, device const ulong* rc_int,
                    device const ulong* ext_mds, device const ulong* int_diag, uint t, uint r_f, uint r_p) {
    multiply_by_matrix(state, ext_mds, t);
    for (uint r = 0; r < r_f + r_p; ++r) {
        bool partial = r >= r_f / 2 && r < r_f / 2 + r_p;
        uint full = r < r_f / 2 ? r : r - r_p;
        for (uint i = 0; i < (partial ? 1 : t); ++i) {
            state[i] = seventh_power(add(state[i], partial ? rc_int[r - r_f / 2] : rc_ext[full * t + i]));
        }
        if (!partial) {
            multiply_by_matrix(state, ext_mds, t);
            continue;
        }
        ulong sum = 0;
        for (uint i = 0; i < t; ++i) sum = add(sum, state[i]);
        for (uint i = 0; i < t; ++i) state[i] = add(sum, multiply(int_diag[i], state[i]));
    }
}

kernel void poseidon2_hash(device const ulong* in_state [[buffer(0)]],
                           device ulong* out_state [[buffer(1)]],
                           device const ulong* rc_ext [[buffer(2)]],
                           device const ulong* rc_int [[buffer(3)]],
                           device const ulong* ext_mds [[buffer(4)]],
                           device const ulong* int_diag [[buffer(5)]],
                           constant uint& t [[buffer(6)]],
                           constant uint& r_f [[buffer(7)]],
                           constant uint& r_p [[buffer(8)]],
                           constant uint& batch [[buffer(9)]],
                           uint idx [[thread_position_in_grid]]) {
    if (idx >= batch) return;
    ulong state[MAX_T];
    for (uint i = 0; i < t; ++i) state[i] = in_state[idx * t + i];
    permute(state, rc_ext, rc_int, ext_mds, int_diag, t, r_f, r_p);
    for (uint i = 0; i < t; ++i) out_state[idx * t + i] = state[i];
}
