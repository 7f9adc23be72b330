// The forward transform of Kyber, a polynomial per threadgroup; one division a thread, whatever the levels.
#include <metal_stdlib>
using namespace metal;

kernel void kyber_ntt(device uint* coeffs [[buffer(0)]],
                      device const uint* zetas [[buffer(1)]],
                      constant uint& q [[buffer(2)]],
                      constant uint& n [[buffer(3)]],
                      constant uint& n_levels [[buffer(4)]],
                      constant uint& batch [[buffer(5)]],
                      uint tgid [[threadgroup_position_in_grid]],
                      uint ltid [[thread_position_in_threadgroup]]) {
    device uint* a = coeffs + tgid * n;
    uint modulus = q;
    // Barrett for a modulus of `bits` bits: the quotient is the right one, or up to two less, and nothing needs 65 bits.
    uint bits = 32 - clz(modulus);
    ulong reciprocal = (1ul << (2 * bits)) / modulus;
    for (uint level = 0; level < n_levels; ++level) {
        uint len = n >> (level + 1);
        uint shift = ctz(len);
        uint group = ltid >> shift;
        uint j = (group << (shift + 1)) + (ltid & (len - 1));
        ulong product = ulong(zetas[(1u << level) + group]) * a[j + len];
        ulong quotient = ((product >> (bits - 1)) * reciprocal) >> (bits + 1);
        uint t = uint(product) - uint(quotient) * modulus;
        t = t >= modulus ? t - modulus : t;
        t = t >= modulus ? t - modulus : t;
        uint low = a[j];
        uint sum = low + t;
        a[j + len] = low >= t ? low - t : low + modulus - t;
        a[j] = sum >= modulus ? sum - modulus : sum;
        threadgroup_barrier(mem_flags::mem_device);
    }
}
