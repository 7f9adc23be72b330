#include <metal_stdlib>
using namespace metal;

struct Philox {
    uint4 counter;
    uint2 key;

    uint4 next() {
        uint4 c = counter;
        uint2 k = key;
        for (int r = 0; r < 10; ++r) {
            const uint hi0 = mulhi(0xD2511F53u, c.x), lo0 = 0xD2511F53u * c.x;
            const uint hi1 = mulhi(0xCD9E8D57u, c.z), lo1 = 0xCD9E8D57u * c.z;
            c = uint4(hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0);
            k += uint2(0x9E3779B9u, 0xBB67AE85u);
        }
        counter.x++;
        return c;
    }
    float4 uniform4() { return float4(next()) * (1.0f / 4294967296.0f); }
};

inline uint pcg(thread uint& state) {
    state = state * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

float2 box_muller(float u1, float u2) {
    float r = sqrt(-2.0f * log(max(u1, 1e-7f)));
    float theta = 2.0f * M_PI_F * u2;
    return r * float2(cos(theta), sin(theta));
}

kernel void price(device float* payoff [[buffer(0)]], constant float4& market [[buffer(1)]], constant uint& paths [[buffer(2)]],
                  constant ulong& seed [[buffer(3)]], uint gid [[thread_position_in_grid]], uint n [[threads_per_grid]]) {
    Philox rng;
    rng.counter = uint4(gid, 0u, 0u, 0u);
    rng.key = uint2(uint(seed), uint(seed >> 32));
    float s0 = market.x, k = market.y, r = market.z, sigma = market.w;
    float total = 0.0f;
    for (uint p = gid; p < paths; p += n) {
        float4 u = rng.uniform4();
        float2 z = box_muller(u.x, u.y);
        float st = s0 * exp((r - 0.5f * sigma * sigma) + sigma * z.x);
        total += max(st - k, 0.0f);
        uint extra = gid;
        total += float(pcg(extra) & 1u) * 0.0f;
    }
    payoff[gid] = total;
}

kernel void metropolis(device char* spins [[buffer(0)]], constant uint& width [[buffer(1)]], constant float& beta [[buffer(2)]],
                       constant uint& parity [[buffer(3)]], constant uint& sweep [[buffer(4)]], uint2 gid [[thread_position_in_grid]]) {
    const uint x = gid.x * 2 + ((gid.y + parity) & 1);
    const uint y = gid.y;
    if (x >= width || y >= width) return;
    const uint mask = width - 1;
    const int s = spins[y * width + x];
    const int h = spins[y * width + ((x + 1) & mask)] + spins[y * width + ((x - 1) & mask)] + spins[((y + 1) & mask) * width + x] +
                  spins[((y - 1) & mask) * width + x];
    const int dE = 2 * s * h;
    uint state = (y * width + x) ^ (sweep * 0x9E3779B9u);
    const float u = float(pcg(state) >> 8) * 0x1.0p-24f;
    if (dE <= 0 || u < exp(-beta * float(dE))) spins[y * width + x] = char(-s);
}
