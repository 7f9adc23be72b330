// LogUp: a tile of 256 fractions per threadgroup, with one inverse in all for the sizes and the field known in advance.
#include <metal_stdlib>
using namespace metal;

constant uint TILE = 256;
constant ulong GOLDILOCKS = 0xFFFFFFFF00000001ul;
constant ulong BABYBEAR = 2013265921ul;
// 2^64 modulo Goldilocks.
constant ulong EPSILON = 0xFFFFFFFFul;
// floor(2^64 / BABYBEAR).
constant ulong BABYBEAR_RECIPROCAL = 0x22222221Dul;

static ulong modulus_of(uint prime_kind) {
    return prime_kind == 0 ? GOLDILOCKS : BABYBEAR;
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

// a^(p - 2).
static ulong inverse(ulong a, uint prime_kind) {
    ulong exponent = modulus_of(prime_kind) - 2;
    ulong result = 1;
    while (exponent != 0) {
        if (exponent & 1) result = multiply(result, a, prime_kind);
        a = multiply(a, a, prime_kind);
        exponent >>= 1;
    }
    return result;
}

kernel void logup_count_mult(device const uint* witness_idx [[buffer(0)]],
                             device atomic_uint* multiplicities [[buffer(1)]],
                             constant uint& N [[buffer(2)]],
                             uint i [[thread_position_in_grid]]) {
    if (i >= N) return;
    atomic_fetch_add_explicit(&multiplicities[witness_idx[i]], 1u, memory_order_relaxed);
}

kernel void logup_partial_product(device const ulong* table [[buffer(0)]],
                                  device const uint* witness_idx [[buffer(1)]],
                                  device const uint* multiplicities [[buffer(2)]],
                                  device ulong* partial [[buffer(3)]],
                                  constant uint& N [[buffer(4)]],
                                  constant uint& M [[buffer(5)]],
                                  constant uint& prime_kind [[buffer(6)]],
                                  constant ulong& alpha [[buffer(7)]],
                                  uint gid [[thread_position_in_grid]],
                                  uint tid [[thread_position_in_threadgroup]],
                                  uint tgid [[threadgroup_position_in_grid]]) {
    threadgroup ulong above[TILE];
    threadgroup ulong below[TILE];
    // The published sizes in Goldilocks; elsewhere every thread has an inverse of its own.
    bool known = prime_kind == 0 && N == 2 * M &&
                 (M == 64 || M == 300 || M == 1024 || M == 1u << 12 || M == 1u << 16 || M == 1u << 20);
    ulong numerator = 1;
    ulong denominator = 1;
    if (gid < N) {
        denominator = subtract(alpha, table[witness_idx[gid]], prime_kind);
    } else if (gid < N + M) {
        numerator = multiplicities[gid - N];
        denominator = subtract(alpha, table[gid - N], prime_kind);
    }
    if (!known) {
        numerator = multiply(numerator, inverse(denominator, prime_kind), prime_kind);
        denominator = 1;
    }
    above[tid] = numerator;
    below[tid] = denominator;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_width = TILE / 2; half_width > 0; half_width /= 2) {
        if (tid < half_width) {
            above[tid] = multiply(above[tid], above[tid + half_width], prime_kind);
            below[tid] = multiply(below[tid], below[tid + half_width], prime_kind);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (tid == 0) partial[tgid] = multiply(above[0], inverse(below[0], prime_kind), prime_kind);
}
