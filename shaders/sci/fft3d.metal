// Forward FFT of a cube, one pass per axis: a threadgroup transforms one line with radix-2 stages in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MAX_N = 1024;

static float2 multiply(float2 a, float2 b) {
    return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Leaves element `t` of the transform of `line` in natural order; called by all N threads of the threadgroup.
static float2 transform(float2 value, threadgroup float2* line, uint t, uint N) {
    uint bits = ctz(N);
    line[reverse_bits(t) >> (32 - bits)] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_size = 1; half_size < N; half_size *= 2) {
        if (t < N / 2) {
            uint k = t & (half_size - 1);
            uint upper = 2 * (t - k) + k;
            float angle = -M_PI_F * float(k) / float(half_size);
            float2 a = line[upper];
            float2 b = multiply(line[upper + half_size], float2(cos(angle), sin(angle)));
            line[upper] = a + b;
            line[upper + half_size] = a - b;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    return line[t];
}

kernel void fft3d_x(device const float2* in_data [[buffer(0)]],
                    device float2* out_data [[buffer(1)]],
                    constant uint& N [[buffer(2)]],
                    uint3 gid [[thread_position_in_grid]]) {
    threadgroup float2 line[MAX_N];
    uint i = gid.x;
    uint k = gid.y / N;
    uint j = gid.y - k * N;
    uint point = (k * N + j) * N + i;
    out_data[point] = transform(in_data[point], line, i, N);
}

kernel void fft3d_y(device const float2* in_data [[buffer(0)]],
                    device float2* out_data [[buffer(1)]],
                    constant uint& N [[buffer(2)]],
                    uint3 gid [[thread_position_in_grid]]) {
    threadgroup float2 line[MAX_N];
    uint j = gid.x;
    uint k = gid.y / N;
    uint i = gid.y - k * N;
    uint point = (k * N + j) * N + i;
    out_data[point] = transform(in_data[point], line, j, N);
}

kernel void fft3d_z(device const float2* in_data [[buffer(0)]],
                    device float2* out_data [[buffer(1)]],
                    constant uint& N [[buffer(2)]],
                    uint3 gid [[thread_position_in_grid]]) {
    threadgroup float2 line[MAX_N];
    uint k = gid.x;
    uint j = gid.y / N;
    uint i = gid.y - j * N;
    uint point = (k * N + j) * N + i;
    out_data[point] = transform(in_data[point], line, k, N);
}
