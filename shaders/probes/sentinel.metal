// Fixed work that witnesses the state of a device's clock, and no work at all: what a dispatch costs by itself.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint CHAINS = 4;
constant constexpr uint STEPS = 64;

kernel void sentinel(device float* sums [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float chain[CHAINS];
#pragma unroll
    for (uint c = 0; c < CHAINS; ++c) chain[c] = float(i) + float(c);
#pragma unroll
    for (uint step = 0; step < STEPS; ++step) {
#pragma unroll
        for (uint c = 0; c < CHAINS; ++c) chain[c] = fma(chain[c], 0.999f, 0.5f);
    }
    float sum = 0.0f;
#pragma unroll
    for (uint c = 0; c < CHAINS; ++c) sum += chain[c];
    sums[i] = sum;
}

kernel void nothing() {}
