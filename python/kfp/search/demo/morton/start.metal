// One explicit step of the heat equation in Morton order; coordinates are taken apart and put together bit by bit.
#include <metal_stdlib>
using namespace metal;

static uint3 coordinates(uint index, uint bits) {
    uint3 at = uint3(0);
    for (uint b = 0; b < bits; ++b) {
        at.x |= (index >> (3 * b) & 1) << b;
        at.y |= (index >> (3 * b + 1) & 1) << b;
        at.z |= (index >> (3 * b + 2) & 1) << b;
    }
    return at;
}

static uint index_of(uint3 at, uint bits) {
    uint index = 0;
    for (uint b = 0; b < bits; ++b) {
        index |= (at.x >> b & 1) << (3 * b);
        index |= (at.y >> b & 1) << (3 * b + 1);
        index |= (at.z >> b & 1) << (3 * b + 2);
    }
    return index;
}

kernel void morton_stencil(device const float* u_in [[buffer(0)]],
                           device float* u_out [[buffer(1)]],
                           constant uint& N [[buffer(2)]],
                           constant uint& logN [[buffer(3)]],
                           constant float& alpha [[buffer(4)]],
                           uint tid [[thread_position_in_grid]]) {
    if (tid >= N * N * N) return;
    uint3 at = coordinates(tid, logN);
    float u = u_in[tid];
    if (any(at == uint3(0)) || any(at == uint3(N - 1))) {
        u_out[tid] = u;
        return;
    }
    float neighbours = u_in[index_of(at - uint3(1, 0, 0), logN)] + u_in[index_of(at + uint3(1, 0, 0), logN)] +
                       u_in[index_of(at - uint3(0, 1, 0), logN)] + u_in[index_of(at + uint3(0, 1, 0), logN)] +
                       u_in[index_of(at - uint3(0, 0, 1), logN)] + u_in[index_of(at + uint3(0, 0, 1), logN)];
    u_out[tid] = u + alpha * (neighbours - 6.0f * u);
}
