// One leapfrog step of the wave equation; every neighbour is looked up from a cell's number, by division.
#include <metal_stdlib>
using namespace metal;

static float cell_at(device const float* u, uint cell, int right, int up, int above, uint3 size) {
    int i = clamp(int(cell % size.x) + right, 0, int(size.x) - 1);
    int j = clamp(int(cell / size.x % size.y) + up, 0, int(size.y) - 1);
    int k = clamp(int(cell / (size.x * size.y)) + above, 0, int(size.z) - 1);
    return u[(k * int(size.y) + j) * int(size.x) + i];
}

kernel void wave_step(device const float* u_prev [[buffer(0)]],
                      device const float* u_curr [[buffer(1)]],
                      device float* u_next [[buffer(2)]],
                      constant uint& NX [[buffer(3)]],
                      constant uint& NY [[buffer(4)]],
                      constant uint& NZ [[buffer(5)]],
                      constant float& alpha [[buffer(6)]],
                      uint3 gid [[thread_position_in_grid]]) {
    uint3 size = uint3(NX, NY, NZ);
    if (any(gid >= size)) return;
    uint cell = (gid.z * NY + gid.y) * NX + gid.x;
    float u = u_curr[cell];
    float sum = cell_at(u_curr, cell, -1, 0, 0, size) + cell_at(u_curr, cell, 1, 0, 0, size) +
                cell_at(u_curr, cell, 0, -1, 0, size) + cell_at(u_curr, cell, 0, 1, 0, size) +
                cell_at(u_curr, cell, 0, 0, -1, size) + cell_at(u_curr, cell, 0, 0, 1, size);
    bool on_face = any(gid == uint3(0)) || any(gid == size - 1);
    u_next[cell] = on_face ? u : 2.0f * u - u_prev[cell] + alpha * (sum - 6.0f * u);
}
