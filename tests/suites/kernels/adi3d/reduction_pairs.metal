// right
// One step of cyclic reduction first: odd unknowns are eliminated, then Thomas on half the length.
#include <metal_stdlib>
using namespace metal;

static inline void solve(device const float* in, device float* out, uint n, uint s, float mu, bool face) {
    if (face) {
        for (uint k = 0; k < n; ++k) out[k * s] = in[k * s];
        return;
    }
    const float b = 1.0f + 2.0f * mu, f = mu / b;
    float c[130], d[130];
    const float last = in[(n - 1) * s];
    c[0] = 0; d[0] = in[0];
    // Unknowns 2, 4, ... below n - 1; the last may have the fixed end beside it.
    uint m = 1;
    for (uint k = 2; k < n - 1; k += 2, ++m) {
        const bool ends = k + 1 == n - 1;
        const float lower = f * mu, upper = ends ? 0.0f : f * mu;
        const float centre = b - f * mu - (ends ? 0.0f : f * mu);
        float rhs = in[k * s] + f * in[(k - 1) * s] + (ends ? mu * last : f * in[(k + 1) * s]);
        const bool reaches = !ends && k + 2 == n - 1;
        rhs += reaches ? upper * last : 0.0f;
        const float r = 1.0f / (centre - lower * c[m - 1]);
        c[m] = (reaches ? 0.0f : upper) * r;
        d[m] = (rhs + lower * d[m - 1]) * r;
    }
    out[0] = in[0];
    out[(n - 1) * s] = last;
    float right = 0.0f;
    for (uint q = m - 1; q > 0; --q) {
        right = fma(c[q], right, d[q]);
        d[q] = right;
        out[2 * q * s] = right;
    }
    for (uint k = 1; k < n - 1; k += 2) {
        const float w = d[k / 2], e = k + 1 == n - 1 ? last : d[k / 2 + 1];
        out[k * s] = (in[k * s] + mu * (w + e)) / b;
    }
}
kernel void adi_x(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]]) {
    const bool face = gid.x == 0 || gid.y == 0 || gid.x == NY - 1 || gid.y == NZ - 1;
    solve(u_in + (gid.y * NY + gid.x) * NX, u_out + (gid.y * NY + gid.x) * NX, NX, 1, mu, face);
}
kernel void adi_y(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]]) {
    const bool face = gid.x == 0 || gid.y == 0 || gid.x == NX - 1 || gid.y == NZ - 1;
    solve(u_in + gid.y * NY * NX + gid.x, u_out + gid.y * NY * NX + gid.x, NY, NX, mu, face);
}
kernel void adi_z(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]]) {
    const bool face = gid.x == 0 || gid.y == 0 || gid.x == NX - 1 || gid.y == NY - 1;
    solve(u_in + gid.y * NX + gid.x, u_out + gid.y * NX + gid.x, NZ, NX * NY, mu, face);
}
