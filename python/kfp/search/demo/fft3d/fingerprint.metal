// Forward FFT of a cube as the sum that defines it: by rotation for sizes known in advance; for any other with a sine and
// a cosine for every term.
#include <metal_stdlib>
using namespace metal;

static float2 multiply(float2 a, float2 b) {
    return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

static float2 root(uint numerator, uint N) {
    float angle = -2.0f * M_PI_F * float(numerator) / float(N);
    return float2(cos(angle), sin(angle));
}

static float2 plain_transform(device const float2* in_data, uint first, uint stride, uint t, uint N) {
    float2 sum = float2(0.0f);
    for (uint n = 0; n < N; ++n) {
        sum += multiply(in_data[first + n * stride], root(n * t & (N - 1), N));
    }
    return sum;
}

// Four interleaved sums, so that a rotation is only a quarter of N steps long and the sums don't wait for each other.
static float2 transform(device const float2* in_data, uint first, uint stride, uint t, uint N) {
    if (N != 8 && N != 16 && N != 32 && N != 128) return plain_transform(in_data, first, stride, t, N);
    float2 factor = float2(1.0f, 0.0f);
    float2 step = root(4 * t & (N - 1), N);
    float2 a = float2(0.0f);
    float2 b = float2(0.0f);
    float2 c = float2(0.0f);
    float2 d = float2(0.0f);
    for (uint n = 0; n < N; n += 4) {
        uint point = first + n * stride;
        a += multiply(in_data[point], factor);
        b += multiply(in_data[point + stride], factor);
        c += multiply(in_data[point + 2 * stride], factor);
        d += multiply(in_data[point + 3 * stride], factor);
        factor = multiply(factor, step);
    }
    return a + multiply(b, root(t, N)) + multiply(c, root(2 * t & (N - 1), N)) + multiply(d, root(3 * t & (N - 1), N));
}

kernel void fft3d_x(device const float2* in_data [[buffer(0)]],
                    device float2* out_data [[buffer(1)]],
                    constant uint& N [[buffer(2)]],
                    uint3 gid [[thread_position_in_grid]]) {
    uint first = gid.y * N;
    out_data[first + gid.x] = transform(in_data, first, 1, gid.x, N);
}

kernel void fft3d_y(device const float2* in_data [[buffer(0)]],
                    device float2* out_data [[buffer(1)]],
                    constant uint& N [[buffer(2)]],
                    uint3 gid [[thread_position_in_grid]]) {
    uint k = gid.y >> ctz(N);
    uint first = k * N * N + (gid.y & (N - 1));
    out_data[first + gid.x * N] = transform(in_data, first, N, gid.x, N);
}

kernel void fft3d_z(device const float2* in_data [[buffer(0)]],
                    device float2* out_data [[buffer(1)]],
                    constant uint& N [[buffer(2)]],
                    uint3 gid [[thread_position_in_grid]]) {
    uint first = gid.y;
    out_data[first + gid.x * N * N] = transform(in_data, first, N * N, gid.x, N);
}
