// right
// Decimation in time: five stages within simdgroups by simd_shuffle_xor, the others through threadgroup memory.
#include <metal_stdlib>
using namespace metal;

static inline float2 cmul(float2 a, float2 b) { return float2(fma(a.x, b.x, -a.y * b.y), fma(a.x, b.y, a.y * b.x)); }

static inline float2 twiddle(uint k, uint n) {
    float c;
    const float s = sincos(-2.0f * M_PI_F * float(k) / float(n), c);
    return float2(c, s);
}

static float2 line_fft(float2 v, uint t, uint n, threadgroup float2* buffer) {
    const uint bits = 31 - clz(n);
    buffer[reverse_bits(t) >> (32 - bits)] = v;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    v = buffer[t];
    for (uint h = 1; h < min(n, 32u); h <<= 1) {
        const uint k = t & (h - 1);
        const bool upper = (t & h) != 0;
        const float2 w = twiddle(k, 2 * h);
        const float2 mine = upper ? cmul(v, w) : v;
        const float2 other = simd_shuffle_xor(mine, ushort(h));
        v = upper ? other - mine : mine + other;
    }
    for (uint h = 32; h < n; h <<= 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        buffer[t] = v;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const uint k = t & (h - 1);
        const float2 a = buffer[t & ~h], b = cmul(buffer[t | h], twiddle(k, 2 * h));
        v = (t & h) ? a - b : a + b;
    }
    return v;
}
#define AXIS(name, element, point)                                                                    \
    [[max_total_threads_per_threadgroup(256)]] kernel void name(device const float2* in_data [[buffer(0)]],                                   \
                        device float2* out_data [[buffer(1)]],                                        \
                        constant uint& N [[buffer(2)]],                                               \
                        uint3 gid [[thread_position_in_grid]]) {                                      \
        threadgroup float2 buffer[256]; out_data[point] = line_fft(in_data[point], element, N, buffer);                                                                                            \
    }
AXIS(fft3d_x, gid.x, gid.y * N + gid.x)
AXIS(fft3d_y, gid.x, ((gid.y / N) * N + gid.x) * N + gid.y % N)
AXIS(fft3d_z, gid.x, (gid.x * N + gid.y / N) * N + gid.y % N)
