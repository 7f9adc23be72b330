// right
// A specialisation for each small even dimension, everything in registers, A in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

static inline uint mix_bits(uint x) {
    x ^= x >> 16; x *= 0x85EBCA6Bu;
    x ^= x >> 13; x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
}

static inline float uniform_of(uint stream, uint counter) {
    return float(mix_bits(mix_bits(stream ^ counter)) >> 8) * 0x1.0p-24f;
}

template <uint D>
static inline float gradient(threadgroup const float* a, thread const float (&q)[D], thread float (&force)[D]) {
    float energy = 0.0f;
    #pragma unroll
    for (uint i = 0; i < D; ++i) {
        float s = 0.0f;
        #pragma unroll
        for (uint j = 0; j < D; ++j) s = fma(a[i * D + j], q[j], s);
        force[i] = s;
        energy = fma(0.5f * q[i], s, energy);
    }
    return energy;
}

template <uint D>
static void run(device const float* q_in, device float* q_out, device uint* accept_cnt, threadgroup const float* a,
                uint L, float eps, uint step, uint seed, uint chain) {
    float q[D], p[D], force[D];
    const uint base = step * (D + 1u);
    const uint stream = seed + chain * 0x9E3779B9u;
    float kinetic = 0.0f;
    for (uint i = 0; i < D; i += 2) {
        const float u1 = max(uniform_of(stream, base + i), 1e-7f);
        const float u2 = uniform_of(stream, base + i + 1u);
        const float r = sqrt(-2.0f * log(u1));
        float c;
        const float s = sincos(2.0f * M_PI_F * u2, c);
        p[i] = r * c;
        p[i + 1] = r * s;
        kinetic += 0.5f * (p[i] * p[i] + p[i + 1] * p[i + 1]);
    }
    for (uint i = 0; i < D; ++i) q[i] = q_in[chain * D + i];
    const float before = gradient<D>(a, q, force) + kinetic;
    for (uint i = 0; i < D; ++i) p[i] -= 0.5f * eps * force[i];
    float potential = 0.0f;
    for (uint l = 0; l < L; ++l) {
        for (uint i = 0; i < D; ++i) q[i] = fma(eps, p[i], q[i]);
        potential = gradient<D>(a, q, force);
        const float kick = (l + 1 == L) ? 0.5f * eps : eps;
        for (uint i = 0; i < D; ++i) p[i] = fma(-kick, force[i], p[i]);
    }
    kinetic = 0.0f;
    for (uint i = 0; i < D; ++i) kinetic += 0.5f * p[i] * p[i];
    const float dH = potential + kinetic - before;
    const float u = max(uniform_of(stream, base + D), 1e-30f);
    const bool accept = isfinite(dH) && log(u) < -dH;
    for (uint i = 0; i < D; ++i) q_out[chain * D + i] = accept ? q[i] : q_in[chain * D + i];
    accept_cnt[chain] += accept ? 1u : 0u;
}

[[max_total_threads_per_threadgroup(64)]]
kernel void hmc_step(device const float* q_in [[buffer(0)]],
                     device float* q_out [[buffer(1)]],
                     device uint* accept_cnt [[buffer(2)]],
                     device const float* A [[buffer(3)]],
                     constant uint& K [[buffer(4)]],
                     constant uint& d [[buffer(5)]],
                     constant uint& L [[buffer(6)]],
                     constant float& eps [[buffer(7)]],
                     constant uint& hmc_step_idx [[buffer(8)]],
                     constant uint& seed [[buffer(9)]],
                     uint chain_idx [[thread_position_in_grid]],
                     uint tid [[thread_position_in_threadgroup]],
                     uint tgsize [[threads_per_threadgroup]]) {
    threadgroup float a[32 * 32];
    for (uint n = tid; n < d * d; n += tgsize) a[n] = A[n];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (chain_idx >= K) return;
#define CASE(D) case D: run<D>(q_in, q_out, accept_cnt, a, L, eps, hmc_step_idx, seed, chain_idx); return;
    switch (d) {
        CASE(2) CASE(4) CASE(6) CASE(8)
        default: return;
    }
#undef CASE
}
