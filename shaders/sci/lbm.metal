// One D2Q9 lattice Boltzmann step: pull streaming, then BGK collision, periodic; one thread per cell.
#include <metal_stdlib>
using namespace metal;

constant int CX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constant int CY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constant float W[9] = {4.0f / 9.0f,  1.0f / 9.0f,  1.0f / 9.0f,  1.0f / 9.0f, 1.0f / 9.0f,
                       1.0f / 36.0f, 1.0f / 36.0f, 1.0f / 36.0f, 1.0f / 36.0f};

kernel void lbm_step(device const float* f_in [[buffer(0)]],
                     device float* f_out [[buffer(1)]],
                     constant uint& NX [[buffer(2)]],
                     constant uint& NY [[buffer(3)]],
                     constant float& tau [[buffer(4)]],
                     uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NX || gid.y >= NY) return;
    uint cells = NX * NY;
    float f[9];
    float density = 0.0f;
    float2 momentum = float2(0.0f);
    for (int k = 0; k < 9; ++k) {
        uint i = (gid.x + NX - CX[k]) % NX;
        uint j = (gid.y + NY - CY[k]) % NY;
        f[k] = f_in[k * cells + j * NX + i];
        density += f[k];
        momentum += f[k] * float2(CX[k], CY[k]);
    }
    float2 velocity = momentum / density;
    float speed2 = dot(velocity, velocity);
    for (int k = 0; k < 9; ++k) {
        float along = dot(float2(CX[k], CY[k]), velocity);
        float equilibrium = W[k] * density * (1.0f + 3.0f * along + 4.5f * along * along - 1.5f * speed2);
        f_out[k * cells + gid.y * NX + gid.x] = f[k] - (f[k] - equilibrium) / tau;
    }
}
