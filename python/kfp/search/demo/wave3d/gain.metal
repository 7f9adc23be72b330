// One leapfrog step of the wave equation; neighbours are an element, a row or a plane away, which takes no division.
#include <metal_stdlib>
using namespace metal;

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
        float sum = row[i - 1] + row[i + 1] + row[i - nx] + row[i + nx] + row[i - plane] + row[i + plane];
        result = 2.0f * u - u_prev[start + i] + alpha * (sum - 6.0f * u);
    }
    u_next[start + i] = result;
}
