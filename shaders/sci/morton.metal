// One explicit step of the heat equation on a cube in Morton order, one thread per cell; face cells copy through.
#include <metal_stdlib>
using namespace metal;

// Every third bit of a Morton index, from bit 0 on; ten bits at most.
static uint gather(uint index) {
    uint x = index & 0x09249249u;
    x = (x | (x >> 2)) & 0x030C30C3u;
    x = (x | (x >> 4)) & 0x0300F00Fu;
    x = (x | (x >> 8)) & 0x030000FFu;
    return (x | (x >> 16)) & 0x000003FFu;
}

static uint spread(uint coordinate) {
    uint x = coordinate;
    x = (x | (x << 16)) & 0x030000FFu;
    x = (x | (x << 8)) & 0x0300F00Fu;
    x = (x | (x << 4)) & 0x030C30C3u;
    return (x | (x << 2)) & 0x09249249u;
}

static uint morton(uint x, uint y, uint z) {
    return spread(x) | (spread(y) << 1) | (spread(z) << 2);
}

kernel void morton_stencil(device const float* u_in [[buffer(0)]],
                           device float* u_out [[buffer(1)]],
                           constant uint& N [[buffer(2)]],
                           constant uint& logN [[buffer(3)]],
                           constant float& alpha [[buffer(4)]],
                           uint tid [[thread_position_in_grid]]) {
    if (tid >= N * N * N) return;
    uint x = gather(tid);
    uint y = gather(tid >> 1);
    uint z = gather(tid >> 2);
    float u = u_in[tid];
    if (x == 0 || y == 0 || z == 0 || x == N - 1 || y == N - 1 || z == N - 1) {
        u_out[tid] = u;
        return;
    }
    float neighbours = u_in[morton(x - 1, y, z)] + u_in[morton(x + 1, y, z)] +
                       u_in[morton(x, y - 1, z)] + u_in[morton(x, y + 1, z)] +
                       u_in[morton(x, y, z - 1)] + u_in[morton(x, y, z + 1)];
    u_out[tid] = u + alpha * (neighbours - 6.0f * u);
}
