// Chains of Montgomery products: without a multiplication for the reduction where the modulus is 2^64 - 2^32 + 1, bit by
// bit for any other.
#include <metal_stdlib>
using namespace metal;

constant constexpr ulong P = 0xFFFFFFFF00000001ul;

// 1 / p modulo 2^64 is 1 + 2^32, and multiples of p are shifts.
static ulong known_product(ulong a, ulong b) {
    ulong high = mulhi(a, b);
    ulong low = a * b;
    ulong factor = low + (low << 32);
    ulong multiple = factor - (factor >> 32) - (low > factor ? 1 : 0);
    return high >= multiple ? high - multiple : high - multiple + P;
}

static ulong plain_product(ulong a, ulong b, ulong n) {
    ulong sum = 0;
    for (uint bit = 0; bit < 64; ++bit) {
        ulong addend = (b >> bit) & 1 ? a : 0;
        ulong room = n - addend;
        sum = sum >= room ? sum - room : sum + addend;
        // Half of it: of sum + n where it is odd.
        sum = sum & 1 ? (sum >> 1) + (n >> 1) + 1 : sum >> 1;
    }
    return sum;
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
    ulong value = x[idx];
    ulong room = n - c[idx];
    for (uint round = 0; round < rounds; ++round) {
        ulong square = n == P ? known_product(value, value) : plain_product(value, value, n);
        value = square >= room ? square - room : square - room + n;
    }
    y[idx] = value;
}
