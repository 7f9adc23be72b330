// y = a x + y, each thread a run of 32 elements: neighbouring threads touch memory far apart.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint RUN = 32;

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  constant uint& N [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
    for (uint k = RUN * i; k < min(RUN * i + RUN, N); ++k) {
        y[k] = a * x[k] + y[k];
    }
}
