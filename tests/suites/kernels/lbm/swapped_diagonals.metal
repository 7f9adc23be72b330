// wrong: elements differ
// Directions 6 and 8 exchanged.
#include <metal_stdlib>
using namespace metal;

constant int CX[9] = {0, 1, 0, -1, 0, 1, 1, -1, -1};
constant int CY[9] = {0, 0, 1, 0, -1, 1, -1, -1, 1};
constant float W[9] = {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
kernel void lbm_step(device const float* f_in [[buffer(0)]],
                     device float* f_out [[buffer(1)]],
                     constant uint& NX [[buffer(2)]],
                     constant uint& NY [[buffer(3)]],
                     constant float& tau [[buffer(4)]],
                     uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NX || gid.y >= NY) return;
    const uint n = NX * NY;
    float f[9], rho = 0, ux = 0, uy = 0;
    for (int k = 0; k < 9; ++k) {
        f[k] = f_in[k * n + ((gid.y + NY - CY[k]) % NY) * NX + (gid.x + NX - CX[k]) % NX];
        rho += f[k]; ux += CX[k] * f[k]; uy += CY[k] * f[k];
    }
    ux /= rho; uy /= rho;
    for (int k = 0; k < 9; ++k) {
        const float c = CX[k] * ux + CY[k] * uy;
        const int store = k == 6 ? 8 : k == 8 ? 7 : k == 7 ? 6 : k;
        f_out[store * n + gid.y * NX + gid.x] = f[k] - (f[k] - W[k] * rho * (1 + 3 * c + 4.5f * c * c - 1.5f * (ux * ux + uy * uy))) / tau;
    }
}
