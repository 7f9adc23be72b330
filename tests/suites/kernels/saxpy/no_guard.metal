// fault: kernel 'saxpy' read from buffer 0 \('x'\) at byte .*, outside of its 69976 bytes
// Writes up to 255 elements past the end.
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  constant uint& N [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = a * x[i] + y[i];
}
