// right
// Everything unrolled by hand, wrapping by comparison, one reciprocal.
#include <metal_stdlib>
using namespace metal;

kernel void lbm_step(device const float* f_in [[buffer(0)]],
                     device float* f_out [[buffer(1)]],
                     constant uint& NX [[buffer(2)]],
                     constant uint& NY [[buffer(3)]],
                     constant float& tau [[buffer(4)]],
                     uint2 gid [[thread_position_in_grid]]) {
    const uint x = gid.x, y = gid.y;
    if (x >= NX || y >= NY) return;
    const uint n = NX * NY;
    const uint xm = (x == 0 ? NX : x) - 1, xp = (x + 1 == NX) ? 0 : x + 1;
    const uint ym = (y == 0 ? NY : y) - 1, yp = (y + 1 == NY) ? 0 : y + 1;
    const uint r = y * NX, rm = ym * NX, rp = yp * NX;
    const float f0 = f_in[r + x];
    const float f1 = f_in[n + r + xm], f2 = f_in[2 * n + rm + x], f3 = f_in[3 * n + r + xp], f4 = f_in[4 * n + rp + x];
    const float f5 = f_in[5 * n + rm + xm], f6 = f_in[6 * n + rm + xp], f7 = f_in[7 * n + rp + xp], f8 = f_in[8 * n + rp + xm];
    const float rho = (f0 + ((f1 + f2) + (f3 + f4))) + ((f5 + f6) + (f7 + f8));
    const float inv = 1.0f / rho;
    const float ux = ((f1 - f3) + (f5 - f7) + (f8 - f6)) * inv;
    const float uy = ((f2 - f4) + (f5 - f7) + (f6 - f8)) * inv;
    const float omega = 1.0f / tau, keep = 1.0f - omega;
    const float base = fma(-1.5f, fma(ux, ux, uy * uy), 1.0f);
    const float a = omega * rho * (4.0f / 9.0f), b = omega * rho * (1.0f / 9.0f), c = omega * rho * (1.0f / 36.0f);
#define EQ(w, e) ((w) * (base + (e) * fma(4.5f, (e), 3.0f)))
    device float* o = f_out + r + x;
    o[0] = fma(keep, f0, a * base);
    o[n] = fma(keep, f1, EQ(b, ux));
    o[2 * n] = fma(keep, f2, EQ(b, uy));
    o[3 * n] = fma(keep, f3, EQ(b, -ux));
    o[4 * n] = fma(keep, f4, EQ(b, -uy));
    o[5 * n] = fma(keep, f5, EQ(c, ux + uy));
    o[6 * n] = fma(keep, f6, EQ(c, uy - ux));
    o[7 * n] = fma(keep, f7, EQ(c, -ux - uy));
    o[8 * n] = fma(keep, f8, EQ(c, ux - uy));
#undef EQ
}
