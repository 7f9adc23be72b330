// right
// Stockham autosort in radix 4 with a last radix 2 stage where needed; a quarter of the threads work.
#include <metal_stdlib>
using namespace metal;

struct Complex {
    float re, im;
    Complex operator+(Complex b) const { return {re + b.re, im + b.im}; }
    Complex operator-(Complex b) const { return {re - b.re, im - b.im}; }
    Complex operator*(Complex b) const { return {re * b.re - im * b.im, re * b.im + im * b.re}; }
    Complex minus_i() const { return {im, -re}; }
};
static Complex root(float numerator, float denominator) {
    const float angle = -2.0f * M_PI_F * (numerator / denominator);
    return {precise::cos(angle), precise::sin(angle)};
}

static void radix4(threadgroup const Complex* from, threadgroup Complex* to, uint j, uint n, uint done) {
    const uint quarter = n / 4, k = j % done;
    Complex v[4];
    for (uint r = 0; r < 4; ++r) {
        const Complex input = from[j + r * quarter];
        v[r] = input * root(float(r * k), float(4 * done));
    }
    const Complex a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = (v[1] - v[3]).minus_i();
    const uint at = (j / done) * done * 4 + k;
    to[at] = a + c;
    to[at + done] = b + d;
    to[at + 2 * done] = a - c;
    to[at + 3 * done] = b - d;
}

static void radix2(threadgroup const Complex* from, threadgroup Complex* to, uint j, uint n, uint done) {
    const uint k = j % done;
    const Complex a = from[j];
    Complex b = from[j + n / 2];
    b = b * root(float(k), float(2 * done));
    const uint at = (j / done) * done * 2 + k;
    to[at] = a + b;
    to[at + done] = a - b;
}

static float2 transform(float2 value, uint t, uint n, threadgroup Complex (&work)[2][256]) {
    uint side = 0;
    work[0][t] = Complex{value.x, value.y};
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint done = 1;
    for (; done * 4 <= n; done *= 4) {
        if (t < n / 4) radix4(work[side], work[side ^ 1], t, n, done);
        side ^= 1;
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (done < n) {
        if (t < n / 2) radix2(work[side], work[side ^ 1], t, n, done);
        side ^= 1;
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    const Complex c = work[side][t];
    return float2(c.re, c.im);
}
#define AXIS(name, element, point)                                                                    \
     kernel void name(device const float2* in_data [[buffer(0)]],                                   \
                        device float2* out_data [[buffer(1)]],                                        \
                        constant uint& N [[buffer(2)]],                                               \
                        uint3 gid [[thread_position_in_grid]]) {                                      \
        threadgroup Complex work[2][256]; out_data[point] = transform(in_data[point], element, N, work);                                                                                            \
    }
AXIS(fft3d_x, gid.x, gid.y * N + gid.x)
AXIS(fft3d_y, gid.x, ((gid.y / N) * N + gid.x) * N + gid.y % N)
AXIS(fft3d_z, gid.x, (gid.x * N + gid.y / N) * N + gid.y % N)
