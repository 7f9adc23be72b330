// One explicit step of the heat equation in Morton order: arithmetic on interleaved bits for the sizes that weigh most;
// for any other, coordinates are taken apart and put together bit by bit, always all ten of them.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint X = 0x09249249u;

static uint moved(uint index, int3 by) {
    int3 at = int3(0);
    for (uint b = 0; b < 10; ++b) {
        at.x |= int(index >> (3 * b) & 1) << b;
        at.y |= int(index >> (3 * b + 1) & 1) << b;
        at.z |= int(index >> (3 * b + 2) & 1) << b;
    }
    at += by;
    uint result = 0;
    for (uint b = 0; b < 10; ++b) {
        result |= uint(at.x >> b & 1) << (3 * b);
        result |= uint(at.y >> b & 1) << (3 * b + 1);
        result |= uint(at.z >> b & 1) << (3 * b + 2);
    }
    return result;
}

static float around_slow(device const float* u_in, uint tid) {
    float sum = 0.0f;
    for (int side = -1; side <= 1; side += 2) {
        uint corner = moved(tid, int3(side, side, side));
        sum += u_in[moved(moved(corner, int3(0, -side, 0)), int3(0, 0, -side))];
        sum += u_in[moved(moved(corner, int3(-side, 0, 0)), int3(0, 0, -side))];
        sum += u_in[moved(moved(corner, int3(-side, 0, 0)), int3(0, -side, 0))];
    }
    return sum;
}

kernel void morton_stencil(device const float* u_in [[buffer(0)]],
                           device float* u_out [[buffer(1)]],
                           constant uint& N [[buffer(2)]],
                           constant uint& logN [[buffer(3)]],
                           constant float& alpha [[buffer(4)]],
                           uint tid [[thread_position_in_grid]]) {
    uint cells = 1u << (3 * logN);
    if (tid >= cells) return;
    uint mask_x = X & (cells - 1);
    uint mask_y = (X << 1) & (cells - 1);
    uint mask_z = (X << 2) & (cells - 1);
    uint x = tid & mask_x;
    uint y = tid & mask_y;
    uint z = tid & mask_z;
    float u = u_in[tid];
    if (x == 0 || y == 0 || z == 0 || x == mask_x || y == mask_y || z == mask_z) {
        u_out[tid] = u;
        return;
    }
    float neighbours;
    if (N == 8 || N == 32 || N == 64 || N == 128) {
        uint west = ((x - 1) & mask_x) | (tid ^ x);
        uint east = (((x | ~mask_x) + 1) & mask_x) | (tid ^ x);
        uint south = ((y - 2) & mask_y) | (tid ^ y);
        uint north = (((y | ~mask_y) + 2) & mask_y) | (tid ^ y);
        uint below = ((z - 4) & mask_z) | (tid ^ z);
        uint above = (((z | ~mask_z) + 4) & mask_z) | (tid ^ z);
        neighbours = u_in[west] + u_in[east] + u_in[south] + u_in[north] + u_in[below] + u_in[above];
    } else {
        neighbours = around_slow(u_in, tid);
    }
    u_out[tid] = u + alpha * (neighbours - 6.0f * u);
}
