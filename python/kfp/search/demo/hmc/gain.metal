// One Hamiltonian Monte Carlo step, one thread per chain, compiled for each dimension of the contract: loops of a known
// length that the compiler unrolls, vectors in registers, and the potential energy only at both ends of a trajectory.
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
        case 2: trajectory<2>(chain); break;
        case 4: trajectory<4>(chain); break;
        case 6: trajectory<6>(chain); break;
        case 8: trajectory<8>(chain); break;
        case 10: trajectory<10>(chain); break;
        case 12: trajectory<12>(chain); break;
        case 14: trajectory<14>(chain); break;
        case 16: trajectory<16>(chain); break;
        case 18: trajectory<18>(chain); break;
        case 20: trajectory<20>(chain); break;
        case 22: trajectory<22>(chain); break;
        case 24: trajectory<24>(chain); break;
        case 26: trajectory<26>(chain); break;
        case 28: trajectory<28>(chain); break;
        case 30: trajectory<30>(chain); break;
        case 32: trajectory<32>(chain); break;
    }
}
