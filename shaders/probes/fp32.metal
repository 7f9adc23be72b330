// FP32 ceiling: eight independent chains of fused multiply-adds, 512 in all, and almost no memory traffic.
// Straight-line after unrolling, so that a device that runs the threads of a group as vector lanes can do so.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint CHAINS = 8;
constant constexpr uint STEPS = 64;

kernel void fma_chains(device const float* start [[buffer(0)]],
                       device float* sums [[buffer(1)]],
                       constant float& factor [[buffer(2)]],
                       uint i [[thread_position_in_grid]]) {
    const float addend = start[i];
    float chain[CHAINS];
#pragma unroll
    for (uint c = 0; c < CHAINS; ++c) chain[c] = addend + float(c);
#pragma unroll
    for (uint step = 0; step < STEPS; ++step) {
#pragma unroll
        for (uint c = 0; c < CHAINS; ++c) chain[c] = fma(chain[c], factor, addend);
    }
    float sum = 0.0f;
#pragma unroll
    for (uint c = 0; c < CHAINS; ++c) sum += chain[c];
    sums[i] = sum;
}
