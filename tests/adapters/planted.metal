#include <metal_stdlib>
using namespace metal;

kernel void planted(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    constant float& a [[buffer(2)]], constant uint& N [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    if (i >= N) return;
    y[i] = a * x[i] + y[i];
}
