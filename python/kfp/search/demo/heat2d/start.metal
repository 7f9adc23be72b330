// One explicit step of the heat equation; every neighbour is looked up from a cell's number, by division.
#include <metal_stdlib>
using namespace metal;

static float cell_at(device const float* u_in, uint cell, int right, int up, uint nx, uint ny) {
    uint i = clamp(int(cell % nx) + right, 0, int(nx) - 1);
    uint j = clamp(int(cell / nx) + up, 0, int(ny) - 1);
    return u_in[j * nx + i];
}

kernel void heat_step(device const float* u_in [[buffer(0)]],
                      device float* u_out [[buffer(1)]],
                      constant uint& NX [[buffer(2)]],
                      constant uint& NY [[buffer(3)]],
                      constant float& alpha [[buffer(4)]],
                      uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NX || gid.y >= NY) return;
    uint cell = gid.y * NX + gid.x;
    uint i = cell % NX;
    uint j = cell / NX;
    float u = u_in[cell];
    float neighbours = cell_at(u_in, cell, -1, 0, NX, NY) + cell_at(u_in, cell, 1, 0, NX, NY) +
                       cell_at(u_in, cell, 0, -1, NX, NY) + cell_at(u_in, cell, 0, 1, NX, NY);
    bool on_edge = i == 0 || j == 0 || i == NX - 1 || j == NY - 1;
    u_out[cell] = on_edge ? u : u + alpha * (neighbours - 4.0f * u);
}
