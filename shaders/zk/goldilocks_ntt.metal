// One radix-2 Stockham stage of a transform modulo p = 2^64 - 2^32 + 1, one butterfly per thread.
#include <metal_stdlib>
using namespace metal;

constant constexpr ulong P = 0xFFFFFFFF00000001ul;
// 2^64 modulo p; 2^96 is -1.
constant constexpr ulong EPSILON = 0xFFFFFFFFul;

static ulong add(ulong a, ulong b) {
    ulong sum = a + b;
    if (sum < a) return sum + EPSILON;
    return sum >= P ? sum - P : sum;
}

static ulong subtract(ulong a, ulong b) {
    return a >= b ? a - b : a - b + P;
}

static ulong multiply(ulong a, ulong b) {
    ulong low = a * b;
    ulong high = mulhi(a, b);
    ulong top = high >> 32;
    ulong difference = low - top;
    if (low < top) difference -= EPSILON;
    ulong middle = (high & 0xFFFFFFFFul) * EPSILON;
    ulong sum = difference + middle;
    if (sum < middle) sum += EPSILON;
    return sum >= P ? sum - P : sum;
}

kernel void goldilocks_ntt_stage(device const ulong* in [[buffer(0)]],
                                 device ulong* out [[buffer(1)]],
                                 device const ulong* twiddles [[buffer(2)]],
                                 constant uint& stage_idx [[buffer(3)]],
                                 constant uint& log_N [[buffer(4)]],
                                 uint k [[thread_position_in_grid]]) {
    uint N = 1u << log_N;
    if (k >= N / 2) return;
    uint width = 1u << stage_idx;
    uint j = k >> stage_idx;
    uint r = k & (width - 1);
    ulong a = in[j * width + r];
    ulong b = multiply(in[j * width + r + N / 2], twiddles[r * (N >> (stage_idx + 1))]);
    out[j * 2 * width + r] = add(a, b);
    out[j * 2 * width + r + width] = subtract(a, b);
}
