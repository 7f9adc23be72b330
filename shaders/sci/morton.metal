// One explicit step of the heat equation on a cube in Morton order, one thread per cell; face cells copy through.
#include <metal_stdlib>
using namespace metal;

// Every third bit of a Morton index, from bit 0 on.
static uint gather(uint index, uint logN) {
    uint coordinate = 0;
    for (uint bit = 0; bit < logN; ++bit) {
        coordinate |= ((index >> (3 * bit)) & 1u) << bit;
    }
    return coordinate;
}

static uint spread(uint coordinate, uint logN) {
    uint index = 0;
    for (uint bit = 0; bit < logN; ++bit) {
        index |= ((coordinate >> bit) & 1u) << (3 * bit);
    }
    return index;
}

static uint morton(uint x, uint y, uint z, uint logN) {
    return spread(x, logN) | (spread(y, logN) << 1) | (spread(z, logN) << 2);
}

kernel void morton_stencil(device const float* u_in [[buffer(0)]],
                           device float* u_out [[buffer(1)]],
                           constant uint& N [[buffer(2)]],
                           constant uint& logN [[buffer(3)]],
                           constant float& alpha [[buffer(4)]],
                           uint tid [[thread_position_in_grid]]) {
    if (tid >= N * N * N) return;
    uint x = gather(tid, logN);
    uint y = gather(tid >> 1, logN);
    uint z = gather(tid >> 2, logN);
    float u = u_in[tid];
    if (x == 0 || y == 0 || z == 0 || x == N - 1 || y == N - 1 || z == N - 1) {
        u_out[tid] = u;
        return;
    }
    float neighbours = u_in[morton(x - 1, y, z, logN)] + u_in[morton(x + 1, y, z, logN)] +
                       u_in[morton(x, y - 1, z, logN)] + u_in[morton(x, y + 1, z, logN)] +
                       u_in[morton(x, y, z - 1, logN)] + u_in[morton(x, y, z + 1, logN)];
    u_out[tid] = u + alpha * (neighbours - 6.0f * u);
}
