// right
// Four elements a thread through float4; the last thread handles what a multiple of four leaves over.
#include <metal_stdlib>
using namespace metal;

[[max_total_threads_per_threadgroup(256)]]
kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  constant uint& N [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
    const uint quads = N >> 2;
    if (i < quads) {
        device const float4* x4 = reinterpret_cast<device const float4*>(x);
        device float4* y4 = reinterpret_cast<device float4*>(y);
        y4[i] = fma(float4(a), x4[i], y4[i]);
    }
    const uint tail = N & 3u;
    if (i < tail) {
        const uint k = (quads << 2) + i;
        y[k] = fma(a, x[k], y[k]);
    }
}
