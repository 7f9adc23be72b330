// The forward transform of Kyber with division bit by bit.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MAX_N = 256;

static uint remainder_of(ulong product, uint q) {
    for (int shift = 31; shift >= 0; --shift) {
        ulong multiple = ulong(q) << shift;
        product = product >= multiple ? product - multiple : product;
    }
    return uint(product);
}

kernel void kyber_ntt(device uint* coeffs [[buffer(0)]],
                      device const uint* zetas [[buffer(1)]],
                      constant uint& q [[buffer(2)]],
                      constant uint& n [[buffer(3)]],
                      constant uint& n_levels [[buffer(4)]],
                      constant uint& batch [[buffer(5)]],
                      uint tgid [[threadgroup_position_in_grid]],
                      uint ltid [[thread_position_in_threadgroup]]) {
    threadgroup uint a[MAX_N];
    uint half_n = n / 2;
    device uint* polynomial = coeffs + tgid * n;
    a[ltid] = polynomial[ltid];
    a[ltid + half_n] = polynomial[ltid + half_n];
    for (uint level = 0; level < n_levels; ++level) {
        uint len = n >> (level + 1);
        uint shift = ctz(len);
        uint group = ltid >> shift;
        uint j = (group << (shift + 1)) + (ltid & (len - 1));
        ulong z = zetas[(1u << level) + group];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint t = remainder_of(z * a[j + len], q);
        uint low = a[j];
        uint sum = low + t;
        a[j + len] = low >= t ? low - t : low + q - t;
        a[j] = sum >= q ? sum - q : sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    polynomial[ltid] = a[ltid];
    polynomial[ltid + half_n] = a[ltid + half_n];
}
