// wrong: elements differ
// No barrier between the stages, which cross simdgroups.
#include <metal_stdlib>
using namespace metal;

static float2 line_fft(float2 v, uint t, uint n, threadgroup float2* line) {
    line[reverse_bits(t) >> (clz(n) + 1)] = v;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint h = 1; h < n; h *= 2) {
        if (t < n / 2) {
            const uint k = t % h, at = 2 * (t - k) + k;
            const float angle = -M_PI_F * float(k) / float(h);
            const float2 w = float2(cos(angle), sin(angle));
            const float2 a = line[at], b = line[at + h];
            const float2 c = float2(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
            line[at] = a + c;
            line[at + h] = a - c;
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    return line[t];
}
#define AXIS(name, element, point)                                                                    \
     kernel void name(device const float2* in_data [[buffer(0)]],                                   \
                        device float2* out_data [[buffer(1)]],                                        \
                        constant uint& N [[buffer(2)]],                                               \
                        uint3 gid [[thread_position_in_grid]]) {                                      \
        threadgroup float2 line[256]; out_data[point] = line_fft(in_data[point], element, N, line);                                                                                            \
    }
AXIS(fft3d_x, gid.x, gid.y * N + gid.x)
AXIS(fft3d_y, gid.x, ((gid.y / N) * N + gid.x) * N + gid.y % N)
AXIS(fft3d_z, gid.x, (gid.x * N + gid.y / N) * N + gid.y % N)
