// right
// The coefficients converge, so only the first 64 are kept and the limit serves for the others.
#include <metal_stdlib>
using namespace metal;

static inline void solve(device const float* in, device float* out, uint n, uint stride, float mu, bool face) {
    if (face) {
        for (uint k = 0; k < n; ++k) out[k * stride] = in[k * stride];
        return;
    }
    constexpr uint kept = 64;
    float upper[kept];
    const float diagonal = fma(2.0f, mu, 1.0f);
    float c = 0.0f, d = in[0];
    out[0] = d;
    #pragma clang loop unroll_count(4)
    for (uint k = 1; k + 1 < n; ++k) {
        const float inverse = 1.0f / fma(-mu, c, diagonal);
        if (k < kept) { c = mu * inverse; upper[k] = c; }
        d = (in[k * stride] + mu * d) * inverse;
        out[k * stride] = d;
    }
    float v = out[(n - 1) * stride] = in[(n - 1) * stride];
    for (int k = int(n) - 2; k > 0; --k) {
        const float u = uint(k) < kept ? upper[k] : c;
        v = out[k * stride] + u * v;
        out[k * stride] = v;
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
