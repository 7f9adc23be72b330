// One explicit step of the heat equation: fast for widths known in advance; for any other, neighbours are found by two
// moves each, which take two divisions.
#include <metal_stdlib>
using namespace metal;

static uint moved(uint cell, int right, int up, uint nx, uint ny) {
    uint i = clamp(int(cell % nx) + right, 0, int(nx) - 1);
    uint j = clamp(int(cell / nx) + up, 0, int(ny) - 1);
    return j * nx + i;
}

static float around(device const float* u_in, uint cell, uint nx, uint ny) {
    float sum = 0.0f;
    for (int side = -1; side <= 1; side += 2) {
        sum += u_in[moved(moved(cell, side, side, nx, ny), 0, -side, nx, ny)];
        sum += u_in[moved(moved(cell, side, side, nx, ny), -side, 0, nx, ny)];
    }
    return sum;
}

kernel void heat_step(device const float* u_in [[buffer(0)]],
                      device float* u_out [[buffer(1)]],
                      constant uint& NX [[buffer(2)]],
                      constant uint& NY [[buffer(3)]],
                      constant float& alpha [[buffer(4)]],
                      uint2 gid [[thread_position_in_grid]]) {
    int nx = int(NX);
    int i = int(gid.x);
    int j = int(gid.y);
    if (i >= nx || j >= int(NY)) return;
    device const float* row = u_in + j * nx;
    float u = row[i];
    float result = u;
    if (i > 0 && j > 0 && i < nx - 1 && j < int(NY) - 1) {
        bool is_known = nx == 32 || nx == 48 || nx == 96 || nx == 256 || nx == 512 || nx == 1024;
        float neighbours = is_known ? row[i - 1] + row[i + 1] + row[i - nx] + row[i + nx]
                                    : around(u_in, uint(j * nx + i), NX, NY);
        result = u + alpha * (neighbours - 4.0f * u);
    }
    u_out[j * nx + i] = result;
}
