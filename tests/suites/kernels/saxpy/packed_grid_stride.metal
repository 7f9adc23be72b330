// right
// A loop with the grid as stride, two packed vectors at a time.
#include <metal_stdlib>
#include <metal_math>
using namespace metal;

template <typename V>
inline V axpy(float a, V x, V y) { return fma(V(a), x, y); }

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  constant uint& N [[buffer(3)]],
                  uint i [[thread_position_in_grid]],
                  uint grid [[threads_per_grid]]) {
    device const packed_float2* xp = (device const packed_float2*)x;
    device packed_float2* yp = (device packed_float2*)y;
    const uint pairs = N / 2;
    #pragma unroll(2)
    for (uint k = i; k < pairs; k += grid) {
        yp[k] = axpy<float2>(a, float2(xp[k]), float2(yp[k]));
    }
    if (i == 0 && (N % 2) != 0) y[N - 1] = axpy(a, x[N - 1], y[N - 1]);
}
