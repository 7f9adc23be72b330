// One round of sum-check: values of h by a tree of sums over a tile of 256, and the fold of the tables.
#include <metal_stdlib>
using namespace metal;

constant uint TILE = 256;
constant uint MOST_VALUES = 4;
constant ulong GOLDILOCKS = 0xFFFFFFFF00000001ul;
constant ulong BABYBEAR = 2013265921ul;
// 2^64 modulo Goldilocks.
constant ulong EPSILON = 0xFFFFFFFFul;
// floor(2^64 / BABYBEAR).
constant ulong BABYBEAR_RECIPROCAL = 0x22222221Dul;

static ulong modulus_of(uint prime_kind) {
    return prime_kind == 0 ? GOLDILOCKS : BABYBEAR;
}

static ulong add(ulong a, ulong b, uint prime_kind) {
    ulong room = modulus_of(prime_kind) - b;
    return a >= room ? a - room : a + b;
}

static ulong subtract(ulong a, ulong b, uint prime_kind) {
    return a >= b ? a - b : a + (modulus_of(prime_kind) - b);
}

static ulong multiply_goldilocks(ulong a, ulong b) {
    ulong low = a * b;
    ulong high = mulhi(a, b);
    // 2^96 = -1 and 2^64 = 2^32 - 1.
    ulong top = high >> 32;
    ulong reduced = low - top;
    if (low < top) reduced -= EPSILON;
    ulong middle = (high & 0xFFFFFFFFul) * EPSILON;
    ulong result = reduced + middle;
    if (result < middle) result += EPSILON;
    return result >= GOLDILOCKS ? result - GOLDILOCKS : result;
}

static ulong multiply_babybear(ulong a, ulong b) {
    ulong product = a * b;
    ulong quotient = mulhi(product, BABYBEAR_RECIPROCAL);
    ulong remainder = product - quotient * BABYBEAR;
    return remainder >= BABYBEAR ? remainder - BABYBEAR : remainder;
}

static ulong multiply(ulong a, ulong b, uint prime_kind) {
    return prime_kind == 0 ? multiply_goldilocks(a, b) : multiply_babybear(a, b);
}

kernel void sumcheck_round_h(device const ulong* f_in [[buffer(0)]],
                             device ulong* partial [[buffer(1)]],
                             constant uint& k_log [[buffer(2)]],
                             constant uint& d_deg [[buffer(3)]],
                             constant uint& prime_kind [[buffer(4)]],
                             uint gid [[thread_position_in_grid]],
                             uint tid [[thread_position_in_threadgroup]],
                             uint tgid [[threadgroup_position_in_grid]]) {
    threadgroup ulong tile[TILE];
    uint half_size = 1u << (k_log - 1);
    ulong products[MOST_VALUES];
    for (uint t = 0; t <= d_deg; ++t) products[t] = gid < half_size ? 1 : 0;
    if (gid < half_size) {
        for (uint i = 0; i < d_deg; ++i) {
            ulong lo = f_in[2 * i * half_size + gid];
            ulong hi = f_in[(2 * i + 1) * half_size + gid];
            ulong slope = subtract(hi, lo, prime_kind);
            ulong value = lo;
            for (uint t = 0; t <= d_deg; ++t) {
                products[t] = multiply(products[t], value, prime_kind);
                value = add(value, slope, prime_kind);
            }
        }
    }
    for (uint t = 0; t <= d_deg; ++t) {
        tile[tid] = products[t];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint width = TILE / 2; width > 0; width /= 2) {
            if (tid < width) tile[tid] = add(tile[tid], tile[tid + width], prime_kind);
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        if (tid == 0) partial[tgid * (d_deg + 1) + t] = tile[0];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

kernel void sumcheck_fold(device const ulong* f_in [[buffer(0)]],
                          device ulong* f_out [[buffer(1)]],
                          constant ulong& r [[buffer(2)]],
                          constant uint& k_log [[buffer(3)]],
                          constant uint& d_deg [[buffer(4)]],
                          constant uint& prime_kind [[buffer(5)]],
                          uint gid [[thread_position_in_grid]]) {
    uint half_size = 1u << (k_log - 1);
    if (gid >= d_deg * half_size) return;
    uint i = gid / half_size;
    uint j = gid % half_size;
    ulong lo = f_in[2 * i * half_size + j];
    ulong hi = f_in[(2 * i + 1) * half_size + j];
    f_out[gid] = add(lo, multiply(r, subtract(hi, lo, prime_kind), prime_kind), prime_kind);
}
