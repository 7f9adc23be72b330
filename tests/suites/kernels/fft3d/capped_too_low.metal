// pipeline error: a threadgroup needs at least 128 threads, the kernel allows 8
// The cap on threads is below the length of a line.
#include <metal_stdlib>
using namespace metal;

#define AXIS(name, element, point)                                                                    \
    [[max_total_threads_per_threadgroup(8)]] kernel void name(device const float2* in_data [[buffer(0)]],                                   \
                        device float2* out_data [[buffer(1)]],                                        \
                        constant uint& N [[buffer(2)]],                                               \
                        uint3 gid [[thread_position_in_grid]]) {                                      \
        float2 s = float2(0); const uint first = point - element; for (uint k = 0; k < N; ++k) { s += in_data[first + k]; } out_data[point] = s;                                                                                            \
    }
AXIS(fft3d_x, gid.x, gid.y * N + gid.x)
AXIS(fft3d_y, gid.x, ((gid.y / N) * N + gid.x) * N + gid.y % N)
AXIS(fft3d_z, gid.x, (gid.x * N + gid.y / N) * N + gid.y % N)
