#include <metal_stdlib>
using namespace metal;

constant constexpr int D = 8;

inline float potential(thread const float* x, device const float* A) {
    float e = 0.0f;
    for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) e += 0.5f * x[i] * A[i * D + j] * x[j];
    return e;
}
inline void gradient(thread const float (&x)[D], device const float* A, thread float (&g)[D]) {
    for (int i = 0; i < D; ++i) {
        float s = 0.0f;
        for (int j = 0; j < D; ++j) s = fma(A[i * D + j], x[j], s);
        g[i] = s;
    }
}
static uint xorshift(thread uint* s) {
    uint x = *s;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *s = x;
    return x;
}
static float uniform01(thread uint* s) { return (float)(xorshift(s) >> 8) / 16777216.0f; }

kernel void hmc(device float* chains [[buffer(0)]], device const float* A [[buffer(1)]], constant float& eps [[buffer(2)]],
                constant uint& steps [[buffer(3)]], device uint* accepted [[buffer(4)]], uint c [[thread_position_in_grid]]) {
    float x[D], p[D], g[D], x0[D];
    uint seed = c * 2654435761u + 1u;
    float kinetic0 = 0.0f, kinetic1 = 0.0f;
    for (int i = 0; i < D; ++i) {
        x[i] = x0[i] = chains[c * D + i];
        float u1 = max(uniform01(&seed), 1e-7f), u2 = uniform01(&seed);
        p[i] = sqrt(-2.0f * log(u1)) * cospi(2.0f * u2);
        kinetic0 += 0.5f * p[i] * p[i];
    }
    const float h0 = kinetic0 + potential(x, A);
    gradient(x, A, g);
    for (uint s = 0; s < steps; ++s) {
        for (int i = 0; i < D; ++i) p[i] -= 0.5f * eps * g[i];
        for (int i = 0; i < D; ++i) x[i] += eps * p[i];
        gradient(x, A, g);
        for (int i = 0; i < D; ++i) p[i] -= 0.5f * eps * g[i];
    }
    for (int i = 0; i < D; ++i) kinetic1 += 0.5f * p[i] * p[i];
    const float h1 = kinetic1 + potential(x, A);
    const bool ok = isfinite(h1) && uniform01(&seed) < exp(h0 - h1);
    for (int i = 0; i < D; ++i) chains[c * D + i] = ok ? x[i] : x0[i];
    accepted[c] += ok ? 1u : 0u;
}
