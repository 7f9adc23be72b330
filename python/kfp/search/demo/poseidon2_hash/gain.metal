// The Poseidon2 permutation, one state per thread, compiled for three lanes and for four.
#include <metal_stdlib>
using namespace metal;

constant constexpr ulong P = 0xFFFFFFFF00000001ul;
constant constexpr ulong EPSILON = 0xFFFFFFFFul;

static ulong add(ulong a, ulong b) {
    ulong room = P - b;
    return a >= room ? a - room : a + b;
}

static ulong multiply(ulong a, ulong b) {
    ulong low = a * b;
    ulong high = mulhi(a, b);
    ulong top = high >> 32;
    ulong difference = low - top - (low < top ? EPSILON : 0);
    ulong middle = (high & EPSILON) * EPSILON;
    ulong sum = difference + middle;
    sum += sum < middle ? EPSILON : 0;
    return sum >= P ? sum - P : sum;
}

static ulong seventh_power(ulong x) {
    ulong square = multiply(x, x);
    return multiply(multiply(square, square), multiply(square, x));
}

template <uint T>
static void multiply_by_matrix(thread ulong* state, device const ulong* ext_mds) {
    ulong product[T];
#pragma unroll
    for (uint i = 0; i < T; ++i) {
        product[i] = multiply(ext_mds[i * T], state[0]);
#pragma unroll
        for (uint j = 1; j < T; ++j) product[i] = add(product[i], multiply(ext_mds[i * T + j], state[j]));
    }
#pragma unroll
    for (uint i = 0; i < T; ++i) state[i] = product[i];
}

template <uint T>
static void full_rounds(thread ulong* state, device const ulong* rc, device const ulong* ext_mds, uint rounds) {
    for (uint r = 0; r < rounds; ++r) {
#pragma unroll
        for (uint i = 0; i < T; ++i) state[i] = seventh_power(add(state[i], rc[r * T + i]));
        multiply_by_matrix<T>(state, ext_mds);
    }
}

// The lanes are so many that a compiler can keep them in registers.
template <uint T>
static void permute(thread ulong* state, device const ulong* rc_ext, device const ulong* rc_int,
                    device const ulong* ext_mds, device const ulong* int_diag, uint r_f, uint r_p) {
    multiply_by_matrix<T>(state, ext_mds);
    full_rounds<T>(state, rc_ext, ext_mds, r_f / 2);
    for (uint r = 0; r < r_p; ++r) {
        state[0] = seventh_power(add(state[0], rc_int[r]));
        ulong sum = state[0];
#pragma unroll
        for (uint i = 1; i < T; ++i) sum = add(sum, state[i]);
#pragma unroll
        for (uint i = 0; i < T; ++i) state[i] = add(sum, multiply(int_diag[i], state[i]));
    }
    full_rounds<T>(state, rc_ext + r_f / 2 * T, ext_mds, r_f / 2);
}

template <uint T>
static void hash(device const ulong* in_state, device ulong* out_state, device const ulong* rc_ext,
                 device const ulong* rc_int, device const ulong* ext_mds, device const ulong* int_diag, uint r_f,
                 uint r_p, uint idx) {
    ulong state[T];
#pragma unroll
    for (uint i = 0; i < T; ++i) state[i] = in_state[idx * T + i];
    permute<T>(state, rc_ext, rc_int, ext_mds, int_diag, r_f, r_p);
#pragma unroll
    for (uint i = 0; i < T; ++i) out_state[idx * T + i] = state[i];
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
    if (t == 3) {
        hash<3>(in_state, out_state, rc_ext, rc_int, ext_mds, int_diag, r_f, r_p, idx);
    } else {
        hash<4>(in_state, out_state, rc_ext, rc_int, ext_mds, int_diag, r_f, r_p, idx);
    }
}
