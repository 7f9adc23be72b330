// Forward FFT of a cube in two steps a line: N = A * B, each thread sums A points, then B sums, with one barrier between.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MAX_N = 1024;

static float2 multiply(float2 a, float2 b) {
    return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

static float2 root(uint numerator, uint N) {
    float angle = -2.0f * M_PI_F * float(numerator) / float(N);
    return float2(cos(angle), sin(angle));
}

// Element `t` of the transform of the line that starts at `first`; called by all N threads of the threadgroup.
static float2 transform(device const float2* in_data, uint first, uint stride, threadgroup float2* sums, uint t, uint N) {
    uint bits = ctz(N);
    uint A = 1u << (bits / 2);
    uint B = N >> (bits / 2);
    // Of the points n = B * a + b, those of one b; summed for the frequencies k that are p modulo A.
    uint b = t & (B - 1);
    uint p = t >> ctz(B);
    float2 sum = float2(0.0f);
    float2 step = root(p, A);
    float2 factor = float2(1.0f, 0.0f);
    for (uint a = 0; a < A; ++a) {
        sum += multiply(in_data[first + (B * a + b) * stride], factor);
        factor = multiply(factor, step);
    }
    sums[p * B + b] = multiply(sum, root(b * p, N));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    // The frequency k = t is A * q + p.
    p = t & (A - 1);
    uint q = t >> ctz(A);
    sum = float2(0.0f);
    step = root(q, B);
    factor = float2(1.0f, 0.0f);
    for (b = 0; b < B; ++b) {
        sum += multiply(sums[p * B + b], factor);
        factor = multiply(factor, step);
    }
    return sum;
}

kernel void fft3d_x(device const float2* in_data [[buffer(0)]],
                    device float2* out_data [[buffer(1)]],
                    constant uint& N [[buffer(2)]],
                    uint3 gid [[thread_position_in_grid]]) {
    threadgroup float2 sums[MAX_N];
    uint first = gid.y * N;
    out_data[first + gid.x] = transform(in_data, first, 1, sums, gid.x, N);
}

kernel void fft3d_y(device const float2* in_data [[buffer(0)]],
                    device float2* out_data [[buffer(1)]],
                    constant uint& N [[buffer(2)]],
                    uint3 gid [[thread_position_in_grid]]) {
    threadgroup float2 sums[MAX_N];
    uint k = gid.y >> ctz(N);
    uint first = k * N * N + (gid.y & (N - 1));
    out_data[first + gid.x * N] = transform(in_data, first, N, sums, gid.x, N);
}

kernel void fft3d_z(device const float2* in_data [[buffer(0)]],
                    device float2* out_data [[buffer(1)]],
                    constant uint& N [[buffer(2)]],
                    uint3 gid [[thread_position_in_grid]]) {
    threadgroup float2 sums[MAX_N];
    uint first = gid.y;
    out_data[first + gid.x * N * N] = transform(in_data, first, N * N, sums, gid.x, N);
}
