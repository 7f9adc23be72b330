// One FRI round modulo p = 2^64 - 2^32 + 1: the folded evaluations, one per thread, and a level of their Merkle tree.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MAX_T = 3;
constant constexpr uint FULL_ROUNDS = 8;
constant constexpr uint PARTIAL_ROUNDS = 22;
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

kernel void fri_fold(device const ulong* evals_in [[buffer(0)]],
                     device ulong* evals_out [[buffer(1)]],
                     device const ulong* inv_x_base [[buffer(2)]],
                     device const ulong* zeta_inv_pow [[buffer(3)]],
                     constant ulong& alpha [[buffer(4)]],
                     constant ulong& inv_fold [[buffer(5)]],
                     constant uint& fold [[buffer(6)]],
                     constant uint& n_out [[buffer(7)]],
                     uint j [[thread_position_in_grid]]) {
    if (j >= n_out) return;
    ulong base = multiply(alpha, inv_x_base[j]);
    ulong total = 0;
    for (uint m = 0; m < fold; ++m) {
        ulong ratio = multiply(base, zeta_inv_pow[m]);
        ulong series = 1;
        ulong power = 1;
        for (uint p = 1; p < fold; ++p) {
            power = multiply(power, ratio);
            series = add(series, power);
        }
        total = add(total, multiply(series, evals_in[j + m * n_out]));
    }
    evals_out[j] = multiply(inv_fold, total);
}

kernel void fri_commit_level(device ulong* tree [[buffer(0)]],
                             device const ulong* rc_ext [[buffer(1)]],
                             device const ulong* rc_int [[buffer(2)]],
                             device const ulong* ext_mds [[buffer(3)]],
                             device const ulong* int_diag [[buffer(4)]],
                             constant uint& in_offset [[buffer(5)]],
                             constant uint& out_offset [[buffer(6)]],
                             constant uint& child_count [[buffer(7)]],
                             uint p [[thread_position_in_grid]]) {
    if (p >= (child_count + 1) / 2) return;
    bool pair = 2 * p + 1 < child_count;
    ulong state[MAX_T] = {tree[in_offset + 2 * p], pair ? tree[in_offset + 2 * p + 1] : 0, 0};
    permute(state, rc_ext, rc_int, ext_mds, int_diag, 3, FULL_ROUNDS, PARTIAL_ROUNDS);
    tree[out_offset + p] = state[0];
}
