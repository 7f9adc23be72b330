// DRAM ceiling: streams much longer than any cache.
#include <metal_stdlib>
using namespace metal;

kernel void stream_copy(device const float* source [[buffer(0)]],
                        device float* target [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
    target[i] = source[i];
}

kernel void stream_update(device const float* source [[buffer(0)]],
                          device float* target [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    target[i] = source[i] + 0.5f * target[i];
}
