// One explicit step of the heat equation in Morton order: neighbours by arithmetic on the interleaved bits themselves.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint X = 0x09249249u;

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
    // A carry runs through the bits of the other axes when they are all set, a borrow when they are all clear.
    uint west = ((x - 1) & mask_x) | (tid ^ x);
    uint east = (((x | ~mask_x) + 1) & mask_x) | (tid ^ x);
    uint south = ((y - 2) & mask_y) | (tid ^ y);
    uint north = (((y | ~mask_y) + 2) & mask_y) | (tid ^ y);
    uint below = ((z - 4) & mask_z) | (tid ^ z);
    uint above = (((z | ~mask_z) + 4) & mask_z) | (tid ^ z);
    float neighbours = u_in[west] + u_in[east] + u_in[south] + u_in[north] + u_in[below] + u_in[above];
    u_out[tid] = u + alpha * (neighbours - 6.0f * u);
}
