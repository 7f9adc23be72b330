// One explicit step of the heat equation; neighbours are one element or one row away, which takes no division.
#include <metal_stdlib>
using namespace metal;

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
        float neighbours = row[i - 1] + row[i + 1] + row[i - nx] + row[i + nx];
        result = u + alpha * (neighbours - 4.0f * u);
    }
    u_out[j * nx + i] = result;
}
