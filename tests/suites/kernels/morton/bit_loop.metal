// right
// Decodes with extract_bits and insert_bits in a loop over logN.
#include <metal_stdlib>
using namespace metal;

static inline uint encode(uint3 p, uint bits) {
    uint m = 0;
    for (uint b = 0; b < bits; ++b) {
        m = insert_bits(m, p.x >> b, 3 * b, 1);
        m = insert_bits(m, p.y >> b, 3 * b + 1, 1);
        m = insert_bits(m, p.z >> b, 3 * b + 2, 1);
    }
    return m;
}

kernel void morton_stencil(device const float* u_in [[buffer(0)]],
                           device float* u_out [[buffer(1)]],
                           constant uint& N [[buffer(2)]],
                           constant uint& logN [[buffer(3)]],
                           constant float& alpha [[buffer(4)]],
                           uint tid [[thread_position_in_grid]]) {
    if (tid >= N * N * N) return;
    ushort3 p = 0;
    for (ushort b = 0; b < logN; ++b) {
        p.x |= ushort(extract_bits(tid, 3 * b, 1) << b);
        p.y |= ushort(extract_bits(tid, 3 * b + 1, 1) << b);
        p.z |= ushort(extract_bits(tid, 3 * b + 2, 1) << b);
    }
    const float c = u_in[tid];
    const ushort last = ushort(N - 1);
    if (any(p == ushort3(0)) || any(p == ushort3(last))) {
        u_out[tid] = c;
        return;
    }
    const float s = u_in[encode(uint3(p.x - 1, p.y, p.z), logN)] + u_in[encode(uint3(p.x + 1, p.y, p.z), logN)] + u_in[encode(uint3(p.x, p.y - 1, p.z), logN)] +
                    u_in[encode(uint3(p.x, p.y + 1, p.z), logN)] + u_in[encode(uint3(p.x, p.y, p.z - 1), logN)] + u_in[encode(uint3(p.x, p.y, p.z + 1), logN)];
    u_out[tid] = c + alpha * (s - 6.0f * c);
}
