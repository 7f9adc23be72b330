// wrong: 2 of 17494 elements differ; first at \[17492\]
// What a multiple of four leaves over is never written.
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float4* x [[buffer(0)]],
                  device float4* y [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  constant uint& N [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
    if (i >= N / 4) return;
    y[i] += a * x[i];
}
