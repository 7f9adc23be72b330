// wrong: values are not finite; first in chain 0, coordinate 0
// only two dimensions have a case, others return without a word.
#include <metal_stdlib>
using namespace metal;

static inline uint mix_bits(uint x) {
    x ^= x >> 16; x *= 0x85EBCA6Bu;
    x ^= x >> 13; x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
}

template <uint D>
static void run(device const float* q_in, device float* q_out, device uint* accept_cnt, device const float* A,
                uint L, float eps, uint step, uint seed, uint chain) {
    float q[D], p[D];
    const uint base = step * (D + 1), stream = seed + chain * 0x9E3779B9u;
    float kinetic = 0, before = 0, after = 0;
    for (uint i = 0; i < D; i += 2) {
        const float u1 = max(float(mix_bits(mix_bits(stream ^ (base + i))) >> 8) * (1.0f / 16777216.0f), 1e-7f);
        const float u2 = float(mix_bits(mix_bits(stream ^ (base + i + 1))) >> 8) * (1.0f / 16777216.0f);
        p[i] = sqrt(-2.0f * log(u1)) * cos(2.0f * M_PI_F * u2);
        p[i + 1] = sqrt(-2.0f * log(u1)) * sin(2.0f * M_PI_F * u2);
    }
    for (uint i = 0; i < D; ++i) { q[i] = q_in[chain * D + i]; kinetic += 0.5f * p[i] * p[i]; }
    for (uint l = 0; l <= L; ++l) {
        float potential = 0;
        float g[D];
        for (uint i = 0; i < D; ++i) {
            g[i] = 0;
            for (uint j = 0; j < D; ++j) g[i] += A[i * D + j] * q[j];
            potential += 0.5f * q[i] * g[i];
        }
        if (l == 0) before = potential + kinetic;
        for (uint i = 0; i < D; ++i) {
            p[i] -= (l == 0 || l == L ? 0.5f : 1.0f) * eps * g[i];
            if (l < L) q[i] += eps * p[i];
        }
        after = potential;
    }
    for (uint i = 0; i < D; ++i) after += 0.5f * p[i] * p[i];
    const float u = max(float(mix_bits(mix_bits(stream ^ (base + D))) >> 8) * (1.0f / 16777216.0f), 1e-30f);
    const bool accept = isfinite(after - before) && log(u) < before - after;
    for (uint i = 0; i < D; ++i) q_out[chain * D + i] = accept ? q[i] : q_in[chain * D + i];
    if (accept) accept_cnt[chain] += 1;
}

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
                     uint chain_idx [[thread_position_in_grid]]) {
    if (chain_idx >= K) return;
    switch (d) {
        case 8: run<8>(q_in, q_out, accept_cnt, A, L, eps, hmc_step_idx, seed, chain_idx); break;
        case 16: run<16>(q_in, q_out, accept_cnt, A, L, eps, hmc_step_idx, seed, chain_idx); break;
        default: break;
    }
}
