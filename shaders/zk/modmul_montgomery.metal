// Chains of Montgomery products modulo an odd number of up to 64 bits, one chain per thread.
#include <metal_stdlib>
using namespace metal;

// a * b / 2^64 modulo n, for a, b < n; neg_inv = -1 / n modulo 2^64.
static ulong montgomery(ulong a, ulong b, ulong n, ulong neg_inv) {
    ulong low = a * b;
    ulong high = mulhi(a, b);
    ulong factor = low * neg_inv;
    ulong reduced = mulhi(factor, n);
    // The low halves cancel: their sum is 2^64, or 0 if both are.
    ulong carry = low != 0 ? 1 : 0;
    ulong sum = high + reduced;
    bool overflow = sum < high;
    sum += carry;
    overflow = overflow || sum < carry;
    return overflow || sum >= n ? sum - n : sum;
}

kernel void modmul_montgomery(device const ulong* x [[buffer(0)]],
                              device const ulong* c [[buffer(1)]],
                              device ulong* y [[buffer(2)]],
                              constant ulong& modulus [[buffer(3)]],
                              constant ulong& neg_inv [[buffer(4)]],
                              constant uint& rounds [[buffer(5)]],
                              constant uint& N [[buffer(6)]],
                              uint idx [[thread_position_in_grid]]) {
    if (idx >= N) return;
    ulong value = x[idx];
    ulong addend = c[idx];
    for (uint round = 0; round < rounds; ++round) {
        ulong square = montgomery(value, value, modulus, neg_inv);
        ulong room = modulus - square;
        value = addend >= room ? addend - room : square + addend;
    }
    y[idx] = value;
}
