// One level of a Merkle tree of Poseidon2 permutations modulo p = 2^64 - 2^32 + 1, one parent per thread.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MAX_T = 4;
constant constexpr ulong P = 0xFFFFFFFF00000001ul;
// 2^64 modulo p; 2^96 is -1.
constant constexpr ulong EPSILON = 0xFFFFFFFFul;

static ulong add(ulong a, ulong b) {
    ulong sum = a + b;
    if (sum < a) return sum + EPSILON;
    return sum >= P ? sum - P : sum;
}

static ulong multiply(ulong a, ulong b) {
    ulong low = a * b;
    ulong high = mulhi(a, b);
    ulong top = high >> 32;
    ulong difference = low - top;
    if (low < top) difference -= EPSILON;
    ulong middle = (high & 0xFFFFFFFFul) * EPSILON;
    ulong sum = difference + middle;
    if (sum < middle) sum += EPSILON;
    return sum >= P ? sum - P : sum;
}

static ulong seventh_power(ulong x) {
    ulong square = multiply(x, x);
    ulong cube = multiply(square, x);
    return multiply(multiply(square, square), cube);
}

static void multiply_by_matrix(thread ulong* state, device const ulong* ext_mds, uint t) {
    ulong product[MAX_T];
    for (uint i = 0; i < t; ++i) {
        product[i] = 0;
        for (uint j = 0; j < t; ++j) product[i] = add(product[i], multiply(ext_mds[i * t + j], state[j]));
    }
    for (uint i = 0; i < t; ++i) state[i] = product[i];
}

static void full_round(thread ulong* state, device const ulong* rc, device const ulong* ext_mds, uint t) {
    for (uint i = 0; i < t; ++i) state[i] = seventh_power(add(state[i], rc[i]));
    multiply_by_matrix(state, ext_mds, t);
}

static void partial_round(thread ulong* state, ulong rc, device const ulong* int_diag, uint t) {
    state[0] = seventh_power(add(state[0], rc));
    ulong sum = 0;
    for (uint i = 0; i < t; ++i) sum = add(sum, state[i]);
    for (uint i = 0; i < t; ++i) state[i] = add(sum, multiply(int_diag[i], state[i]));
}

static void permute(thread ulong* state, device const ulong* rc_ext, device const ulong* rc_int,
                    device const ulong* ext_mds, device const ulong* int_diag, uint t, uint r_f, uint r_p) {
    multiply_by_matrix(state, ext_mds, t);
    for (uint r = 0; r < r_f / 2; ++r) full_round(state, rc_ext + r * t, ext_mds, t);
    for (uint r = 0; r < r_p; ++r) partial_round(state, rc_int[r], int_diag, t);
    for (uint r = r_f / 2; r < r_f; ++r) full_round(state, rc_ext + r * t, ext_mds, t);
}

kernel void merkle_build_level(device ulong* tree [[buffer(0)]],
                               device const ulong* rc_ext [[buffer(1)]],
                               device const ulong* rc_int [[buffer(2)]],
                               device const ulong* ext_mds [[buffer(3)]],
                               device const ulong* int_diag [[buffer(4)]],
                               constant uint& arity [[buffer(5)]],
                               constant uint& t [[buffer(6)]],
                               constant uint& r_f [[buffer(7)]],
                               constant uint& r_p [[buffer(8)]],
                               constant uint& in_offset [[buffer(9)]],
                               constant uint& out_offset [[buffer(10)]],
                               constant uint& child_count [[buffer(11)]],
                               uint p [[thread_position_in_grid]]) {
    uint parents = (child_count + arity - 1) / arity;
    if (p >= parents) return;
    ulong state[MAX_T];
    for (uint i = 0; i < t; ++i) {
        uint child = p * arity + i;
        bool present = i < arity && child < child_count;
        state[i] = present ? tree[in_offset + child] : 0;
    }
    permute(state, rc_ext, rc_int, ext_mds, int_diag, t, r_f, r_p);
    tree[out_offset + p] = state[0];
}
