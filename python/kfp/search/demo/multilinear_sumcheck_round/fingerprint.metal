// One round of sum-check, quick for the degree and the field known in advance; and the fold of the tables.
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

// All values of h at once: each thread adds up what lies a quarter, then a sixteenth, ... of the tile apart.
template <uint D>
static void tile_sums(device const ulong* f_in, device ulong* partial, threadgroup ulong* tile, uint half_size,
                      uint prime_kind, uint gid, uint tid, uint tgid) {
    ulong products[D + 1];
    for (uint t = 0; t <= D; ++t) products[t] = 0;
    if (gid < half_size) {
        for (uint i = 0; i < D; ++i) {
            ulong value = f_in[2 * i * half_size + gid];
            ulong slope = subtract(f_in[(2 * i + 1) * half_size + gid], value, prime_kind);
            for (uint t = 0; t <= D; ++t) {
                products[t] = i == 0 ? value : multiply(products[t], value, prime_kind);
                value = add(value, slope, prime_kind);
            }
        }
    }
    for (uint t = 0; t <= D; ++t) tile[t * TILE + tid] = products[t];
    for (uint width = TILE / 4; width > 0; width /= 4) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (tid >= width) continue;
        for (uint t = 0; t <= D; ++t) {
            threadgroup ulong* at = tile + t * TILE + tid;
            ulong left = add(at[0], at[width], prime_kind);
            ulong right = add(at[2 * width], at[3 * width], prime_kind);
            at[0] = add(left, right, prime_kind);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid <= D) partial[tgid * (D + 1) + tid] = tile[tid * TILE];
}

kernel void sumcheck_round_h(device const ulong* f_in [[buffer(0)]],
                             device ulong* partial [[buffer(1)]],
                             constant uint& k_log [[buffer(2)]],
                             constant uint& d_deg [[buffer(3)]],
                             constant uint& prime_kind [[buffer(4)]],
                             uint gid [[thread_position_in_grid]],
                             uint tid [[thread_position_in_threadgroup]],
                             uint tgid [[threadgroup_position_in_grid]]) {
    threadgroup ulong tile[MOST_VALUES * TILE];
    uint half_size = 1u << (k_log - 1);
    if (d_deg == 2 && prime_kind == 0) {
        tile_sums<2>(f_in, partial, tile, half_size, prime_kind, gid, tid, tgid);
        return;
    }
    // Any other degree or field: one value of h after the other.
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
