// One Hamiltonian Monte Carlo step: compiled for the dimensions that are known in advance; any other takes loops of a
// length that only the run knows, and computes the energy at every step of its trajectory.
#include <metal_stdlib>
using namespace metal;

struct Chain {
    device const float* q_in;
    device float* q_out;
    device uint* accept_cnt;
    device const float* A;
    uint d, L, step, seed, index;
    float eps;
};

static uint mix_bits(uint x) {
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    x ^= x >> 16;
    return x;
}

static float random_uniform(Chain chain, uint counter) {
    uint x = mix_bits((chain.seed + chain.index * 0x9E3779B9u) ^ counter);
    return float(mix_bits(x) >> 8) * (1.0f / 16777216.0f);
}

// force = A q
template <uint D>
static void gradient(Chain chain, thread const float* q, thread float* force) {
    for (uint i = 0; i < D; ++i) {
        float even = 0.0f;
        float odd = 0.0f;
        for (uint j = 0; j < D; j += 2) {
            even = fma(chain.A[i * D + j], q[j], even);
            odd = fma(chain.A[i * D + j + 1], q[j + 1], odd);
        }
        force[i] = even + odd;
    }
}

template <uint D>
static float half_dot(thread const float* a, thread const float* b) {
    float sum = 0.0f;
    for (uint i = 0; i < D; ++i) {
        sum = fma(a[i], b[i], sum);
    }
    return 0.5f * sum;
}

template <uint D>
static void add(thread float* to, float factor, thread const float* what) {
    for (uint i = 0; i < D; ++i) {
        to[i] = fma(factor, what[i], to[i]);
    }
}

template <uint D>
static void trajectory(Chain chain) {
    float q[D] = {};
    float p[D] = {};
    float force[D] = {};
    uint d = chain.d;
    uint base = chain.step * (d + 1);
    uint own = chain.index * d;
    for (uint i = 0; i < D; i += 2) {
        float radius = sqrt(-2.0f * log(max(random_uniform(chain, base + i), 1e-7f)));
        float angle = 2.0f * M_PI_F * random_uniform(chain, base + i + 1);
        p[i] = radius * cos(angle);
        p[i + 1] = radius * sin(angle);
        q[i] = chain.q_in[own + i];
        q[i + 1] = chain.q_in[own + i + 1];
    }
    float before = 0.0f;
    for (uint leap = 0; leap <= chain.L; ++leap) {
        gradient<D>(chain, q, force);
        if (leap == 0) {
            before = half_dot<D>(q, force) + half_dot<D>(p, p);
        }
        bool at_end = leap == 0 || leap == chain.L;
        add<D>(p, at_end ? -0.5f * chain.eps : -chain.eps, force);
        if (leap < chain.L) {
            add<D>(q, chain.eps, p);
        }
    }
    float change = half_dot<D>(q, force) + half_dot<D>(p, p) - before;

    float u = max(random_uniform(chain, base + d), 1e-30f);
    bool accept = isfinite(change) && log(u) < -change;
    for (uint i = 0; i < D; ++i) {
        chain.q_out[own + i] = accept ? q[i] : chain.q_in[own + i];
    }
    if (accept) {
        chain.accept_cnt[chain.index] += 1;
    }
}

// The same for any d, with both energies at every leap.
static void slow_trajectory(Chain chain) {
    float q[32];
    float p[32];
    float force[32];
    uint d = chain.d;
    uint base = chain.step * (d + 1);
    for (uint i = 0; i < d; i += 2) {
        float radius = sqrt(-2.0f * log(max(random_uniform(chain, base + i), 1e-7f)));
        float angle = 2.0f * M_PI_F * random_uniform(chain, base + i + 1);
        p[i] = radius * cos(angle);
        p[i + 1] = radius * sin(angle);
    }
    for (uint i = 0; i < d; ++i) {
        q[i] = chain.q_in[chain.index * d + i];
    }
    float before = 0.0f;
    float after = 0.0f;
    for (uint leap = 0; leap <= 2 * chain.L; ++leap) {
        // Even ones kick, odd ones drift; each of them looks at the energy before and after.
        for (uint look = 0; look < 2; ++look) {
            after = 0.0f;
            for (uint i = 0; i < d; ++i) {
                float sum = 0.0f;
                for (uint j = 0; j < d; ++j) {
                    sum += chain.A[i * d + j] * q[j];
                }
                force[i] = sum;
                after += 0.5f * (q[i] * sum + p[i] * p[i]);
            }
            before = leap == 0 && look == 0 ? after : before;
            float kick = look == 1 || leap % 2 != 0 ? 0.0f : leap == 0 || leap == 2 * chain.L ? 0.5f : 1.0f;
            float drift = look == 1 || leap % 2 == 0 ? 0.0f : 1.0f;
            for (uint i = 0; i < d; ++i) {
                p[i] -= kick * chain.eps * force[i];
                q[i] += drift * chain.eps * p[i];
            }
        }
    }
    float u = max(random_uniform(chain, base + d), 1e-30f);
    bool accept = isfinite(after - before) && log(u) < before - after;
    for (uint i = 0; i < d; ++i) {
        chain.q_out[chain.index * d + i] = accept ? q[i] : chain.q_in[chain.index * d + i];
    }
    if (accept) {
        chain.accept_cnt[chain.index] += 1;
    }
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
    Chain chain = {q_in, q_out, accept_cnt, A, d, L, hmc_step_idx, seed, chain_idx, eps};
    switch (d) {
        case 4: trajectory<4>(chain); break;
        case 6: trajectory<6>(chain); break;
        case 8: trajectory<8>(chain); break;
        case 16: trajectory<16>(chain); break;
        case 32: trajectory<32>(chain); break;
        default: slow_trajectory(chain);
    }
}
