// wrong: elements differ
// The decrement borrows across the other axes' bits.
#include <metal_stdlib>
using namespace metal;

kernel void morton_stencil(device const float* u_in [[buffer(0)]],
                           device float* u_out [[buffer(1)]],
                           constant uint& N [[buffer(2)]],
                           constant uint& logN [[buffer(3)]],
                           constant float& alpha [[buffer(4)]],
                           uint tid [[thread_position_in_grid]]) {
    if (tid >= N * N * N) return;
    const float c = u_in[tid];
    float s = 0;
    bool face = false;
    for (uint a = 0; a < 3; ++a) {
        const uint mask = (0x09249249u << a) & (N * N * N - 1), v = tid & mask;
        face = face || v == 0 || v == mask;
        s += u_in[min((((tid | ~mask) + 1) & mask) | (tid & ~mask), N * N * N - 1)];
        s += u_in[(tid - (1u << a)) & (N * N * N - 1)];
    }
    u_out[tid] = face ? c : c + alpha * (s - 6 * c);
}
