// Chains of Montgomery products, one per thread: a difference of high words instead of a sum that needs 65 bits.
#include <metal_stdlib>
using namespace metal;

// a * b / 2^64 modulo n; inverse = 1 / n modulo 2^64, so that the low words of both products are the same.
static ulong montgomery(ulong a, ulong b, ulong n, ulong inverse) {
    ulong high = mulhi(a, b);
    ulong multiple = mulhi(a * b * inverse, n);
    return high >= multiple ? high - multiple : high - multiple + n;
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
    ulong n = modulus;
    ulong inverse = 0 - neg_inv;
    ulong value = x[idx];
    ulong room = n - c[idx];
    for (uint round = 0; round < rounds; ++round) {
        ulong square = montgomery(value, value, n, inverse);
        value = square >= room ? square - room : square - room + n;
    }
    y[idx] = value;
}
