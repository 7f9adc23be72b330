// The Poseidon2 permutation: compiled for three lanes of 8 + 22 rounds; products bit by bit for any other.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MAX_T = 4;
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

// A product bit by bit, for whatever was not foreseen.
static ulong plain_multiply(ulong a, ulong b) {
    ulong sum = 0;
    for (int bit = 63; bit >= 0; --bit) {
        sum = add(sum, sum);
        if ((b >> bit) & 1) sum = add(sum, a);
    }
    return sum;
}

static ulong plain_seventh_power(ulong x) {
    ulong square = plain_multiply(x, x);
    return plain_multiply(plain_multiply(square, square), plain_multiply(square, x));
}

static void plain_matrix(thread ulong* state, device const ulong* ext_mds, uint t) {
    ulong product[MAX_T];
    for (uint i = 0; i < t; ++i) {
        product[i] = 0;
        for (uint j = 0; j < t; ++j) product[i] = add(product[i], plain_multiply(ext_mds[i * t + j], state[j]));
    }
    for (uint i = 0; i < t; ++i) state[i] = product[i];
}

static void plain_permute(thread ulong* state, device const ulong* rc_ext, device const ulong* rc_int,
                          device const ulong* ext_mds, device const ulong* int_diag, uint t, uint r_f, uint r_p) {
    plain_matrix(state, ext_mds, t);
    for (uint r = 0; r < r_f + r_p; ++r) {
        bool partial = r >= r_f / 2 && r < r_f / 2 + r_p;
        uint full = r < r_f / 2 ? r : r - r_p;
        for (uint i = 0; i < (partial ? 1 : t); ++i) {
            state[i] = plain_seventh_power(add(state[i], partial ? rc_int[r - r_f / 2] : rc_ext[full * t + i]));
        }
        if (!partial) {
            plain_matrix(state, ext_mds, t);
            continue;
        }
        ulong sum = 0;
        for (uint i = 0; i < t; ++i) sum = add(sum, state[i]);
        for (uint i = 0; i < t; ++i) state[i] = add(sum, plain_multiply(int_diag[i], state[i]));
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
    if (t == 3 && r_f == 8 && r_p == 22) {
        permute<3>(state, rc_ext, rc_int, ext_mds, int_diag, 8, 22);
    } else {
        plain_permute(state, rc_ext, rc_int, ext_mds, int_diag, t, r_f, r_p);
    }
    for (uint i = 0; i < t; ++i) out_state[idx * t + i] = state[i];
}
