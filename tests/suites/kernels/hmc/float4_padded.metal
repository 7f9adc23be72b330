// right
// Rows of A padded to whole float4s in threadgroup memory; vectors of eight float4 in registers.
#include <metal_stdlib>
using namespace metal;

static inline uint mix_bits(uint x) {
    x ^= x >> 16; x *= 0x85EBCA6Bu;
    x ^= x >> 13; x *= 0xC2B2AE35u;
    return x ^ (x >> 16);
}

struct Rng {
    uint stream;
    float next(uint counter) const thread { return float(mix_bits(mix_bits(stream ^ counter)) >> 8) * (1.0f / 16777216.0f); }
};

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
                     uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float4 rows[32][8];
    const uint quads = (d + 3) / 4;
    for (uint n = tid; n < d * quads; n += 64) {
        const uint i = n / quads, c = n % quads;
        float4 r(0);
        for (uint k = 0; k < 4; ++k)
            if (4 * c + k < d) r[k] = A[i * d + 4 * c + k];
        rows[i][c] = r;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (chain_idx < K) {
        const uint base = hmc_step_idx * (d + 1);
        const Rng rng{seed + chain_idx * 0x9E3779B9u};
        float4 q[8], p[8], f[8];
        for (uint c = 0; c < 8; ++c) q[c] = p[c] = f[c] = float4(0);
        for (uint i = 0; i < d; i += 2) {
            const float radius = precise::sqrt(-2.0f * precise::log(fmax(rng.next(base + i), 1e-7f)));
            const float angle = 2.0f * M_PI_F * rng.next(base + i + 1);
            p[i >> 2][i & 3] = radius * fast::cos(angle);
            p[i >> 2][(i & 3) + 1] = radius * fast::sin(angle);
        }
        for (uint i = 0; i < d; ++i) q[i / 4][i % 4] = q_in[chain_idx * d + i];
        float old_energy = 0, energy = 0;
        for (uint c = 0; c < quads; ++c) old_energy += 0.5f * dot(p[c], p[c]);
        for (uint l = 0; l <= L; ++l) {
            float u = 0;
            for (uint i = 0; i < d; ++i) {
                float4 s(0);
                for (uint c = 0; c < quads; ++c) s += rows[i][c] * q[c];
                const float g = (s.x + s.y) + (s.z + s.w);
                f[i / 4][i % 4] = g;
                u += 0.5f * q[i / 4][i % 4] * g;
            }
            if (l == 0) old_energy += u;
            energy = u;
            const float kick = (l == 0 || l == L) ? 0.5f * eps : eps;
            for (uint c = 0; c < quads; ++c) {
                p[c] -= kick * f[c];
                if (l < L) q[c] += eps * p[c];
            }
        }
        for (uint c = 0; c < quads; ++c) energy += 0.5f * dot(p[c], p[c]);
        const float dH = energy - old_energy;
        const float u_acc = fmax(rng.next(base + d), 1e-30f);
        const bool accept = !isnan(dH) && !isinf(dH) && log(u_acc) < -dH;
        for (uint i = 0; i < d; ++i) q_out[chain_idx * d + i] = accept ? q[i / 4][i % 4] : q_in[chain_idx * d + i];
        if (accept) ++accept_cnt[chain_idx];
    }
}
