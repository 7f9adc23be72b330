// A Hamiltonian Monte Carlo step, one work-item per chain: shaders/sci/hmc.metal in OpenCL C.
#define MAX_D 32

static uint mix_bits(uint x) {
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    x ^= x >> 16;
    return x;
}

static float random_uniform(uint seed, uint chain, uint counter) {
    uint x = seed + chain * 0x9E3779B9u;
    x = mix_bits(x ^ counter);
    x = mix_bits(x);
    return (float)(x >> 8) * (1.0f / 16777216.0f);
}

// force = A q; returns q.Aq / 2
static float gradient(global const float* A, uint d, private const float* q, private float* force) {
    float energy = 0.0f;
    for (uint i = 0; i < d; ++i) {
        float sum = 0.0f;
        for (uint j = 0; j < d; ++j) {
            sum += A[i * d + j] * q[j];
        }
        force[i] = sum;
        energy += 0.5f * q[i] * sum;
    }
    return energy;
}

static float kinetic(uint d, private const float* p) {
    float energy = 0.0f;
    for (uint i = 0; i < d; ++i) {
        energy += 0.5f * p[i] * p[i];
    }
    return energy;
}

kernel void hmc_step(global const float* q_in, global float* q_out, global uint* accept_cnt, global const float* A,
                     uint K, uint d, uint L, float eps, uint hmc_step_idx, uint seed) {
    uint chain_idx = get_global_id(0);
    if (chain_idx >= K) return;
    float q[MAX_D];
    float p[MAX_D];
    float force[MAX_D];
    uint base = hmc_step_idx * (d + 1);

    for (uint i = 0; i < d; i += 2) {
        float u1 = max(random_uniform(seed, chain_idx, base + i), 1e-7f);
        float u2 = random_uniform(seed, chain_idx, base + i + 1);
        float radius = sqrt(-2.0f * log(u1));
        float angle = 2.0f * M_PI_F * u2;
        p[i] = radius * cos(angle);
        p[i + 1] = radius * sin(angle);
    }
    for (uint i = 0; i < d; ++i) {
        q[i] = q_in[chain_idx * d + i];
    }

    float before = gradient(A, d, q, force) + kinetic(d, p);
    for (uint i = 0; i < d; ++i) {
        p[i] -= 0.5f * eps * force[i];
    }
    float potential = 0.0f;
    for (uint leap = 0; leap < L; ++leap) {
        for (uint i = 0; i < d; ++i) {
            q[i] += eps * p[i];
        }
        potential = gradient(A, d, q, force);
        float kick = leap + 1 < L ? eps : 0.5f * eps;
        for (uint i = 0; i < d; ++i) {
            p[i] -= kick * force[i];
        }
    }
    float change = potential + kinetic(d, p) - before;

    float u = max(random_uniform(seed, chain_idx, base + d), 1e-30f);
    bool accept = isfinite(change) && log(u) < -change;
    for (uint i = 0; i < d; ++i) {
        q_out[chain_idx * d + i] = accept ? q[i] : q_in[chain_idx * d + i];
    }
    if (accept) {
        accept_cnt[chain_idx] += 1;
    }
}
