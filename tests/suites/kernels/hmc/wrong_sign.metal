// wrong: sigma from the mean
// The kick has the wrong sign.
#include <metal_stdlib>
using namespace metal;

static inline uint mix_bits(uint x) {
    x ^= x >> 16; x *= 0x85EBCA6Bu;
    x ^= x >> 13; x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
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
    float q[32], p[32], g[32];
    const uint base = hmc_step_idx * (d + 1), stream = seed + chain_idx * 0x9E3779B9u;
    float before = 0, after = 0;
    for (uint i = 0; i < d; i += 2) {
        const float u1 = max(float(mix_bits(mix_bits(stream ^ (base + i))) >> 8) * (1.0f / 16777216.0f), 1e-7f);
        const float u2 = float(mix_bits(mix_bits(stream ^ (base + i + 1))) >> 8) * (1.0f / 16777216.0f);
        p[i] = sqrt(-2.0f * log(u1)) * cos(2.0f * M_PI_F * u2);
        p[i + 1] = sqrt(-2.0f * log(u1)) * sin(2.0f * M_PI_F * u2);
    }
    for (uint i = 0; i < d; ++i) q[i] = q_in[chain_idx * d + i];
    for (uint l = 0; l <= L; ++l) {
        for (uint i = 0; i < d; ++i) {
            g[i] = 0;
            for (uint j = 0; j < d; ++j) g[i] += A[i * d + j] * q[j];
        }
        for (uint i = 0; i < d; ++i) {
            if (l == 0) before += 0.5f * (q[i] * g[i] + p[i] * p[i]);
            p[i] += (l == 0 || l == L ? 0.5f : 1.0f) * eps * g[i];
            if (l == L) after += 0.5f * (q[i] * g[i] + p[i] * p[i]);
            else q[i] += eps * p[i];
        }
    }
    const float u = max(float(mix_bits(mix_bits(stream ^ (base + d))) >> 8) * (1.0f / 16777216.0f), 1e-30f);
    const bool accept = isfinite(after - before) && log(u) < before - after;
    for (uint i = 0; i < d; ++i) q_out[chain_idx * d + i] = accept ? q[i] : q_in[chain_idx * d + i];
    if (accept) accept_cnt[chain_idx] += 1;
}
