// right
// A simdgroup works through its 32 chains together: lane i holds component i of one chain at a time.
#include <metal_stdlib>
using namespace metal;

static inline uint mix_bits(uint x) {
    x ^= x >> 16; x *= 0x85EBCA6Bu;
    x ^= x >> 13; x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
}

static float draw(uint seed, uint chain, uint counter) {
    return (float)(mix_bits(mix_bits((seed + chain * 0x9E3779B9u) ^ counter)) >> 8) * 5.9604644775390625e-8f;
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
                     uint gid [[thread_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {
    const uint first = gid - lane;
    const bool holds = lane < d;
    float row[32];
    for (uint j = 0; j < 32; ++j) row[j] = holds && j < d ? A[lane * d + j] : 0.0f;
    const uint base = hmc_step_idx * (d + 1);
    for (uint chain = first; chain < min(first + 32, K); ++chain) {
        const uint pair = lane & ~1u;
        const float u1 = max(draw(seed, chain, base + pair), 1e-7f);
        const float u2 = draw(seed, chain, base + pair + 1);
        const float radius = sqrt(-2.0f * log(u1)), angle = 2.0f * M_PI_F * u2;
        float p = holds ? radius * ((lane & 1) ? sin(angle) : cos(angle)) : 0.0f;
        const float start = holds ? q_in[chain * d + lane] : 0.0f;
        float q = start;
        float before = 0.0f, after = 0.0f;
        for (uint l = 0; l <= L; ++l) {
            float g = 0.0f;
            for (ushort j = 0; j < ushort(d); ++j) g += row[j] * simd_broadcast(q, j);
            if (l == 0) before = simd_sum(0.5f * (q * g + p * p));
            p -= (l == 0 || l == L ? 0.5f * eps : eps) * g;
            if (l == L) after = simd_sum(0.5f * (q * g + p * p));
            else q += eps * p;
        }
        const float dH = after - before;
        const bool accept = isfinite(dH) && log(max(draw(seed, chain, base + d), 1e-30f)) < -dH;
        if (holds) q_out[chain * d + lane] = accept ? q : start;
        if (lane == 0 && accept) accept_cnt[chain] += 1;
    }
}
