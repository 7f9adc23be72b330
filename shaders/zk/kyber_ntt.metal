// The forward transform of Kyber for any modulus below 2^31: a polynomial per threadgroup, a butterfly per thread.
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
    if (tgid >= batch) return;
    device uint* a = coeffs + tgid * n;
    for (uint level = 0; level < n_levels; ++level) {
        uint len = n >> (level + 1);
        uint group = ltid / len;
        uint j = group * 2 * len + ltid % len;
        ulong z = zetas[(1u << level) + group];
        uint t = uint(z * a[j + len] % q);
        uint low = a[j];
        a[j + len] = low >= t ? low - t : low + q - t;
        uint sum = low + t;
        a[j] = sum >= q ? sum - q : sum;
        threadgroup_barrier(mem_flags::mem_device);
    }
}
