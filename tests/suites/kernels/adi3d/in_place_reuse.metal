// wrong: elements differ
// Reads the right-hand side from the output after overwriting it.
#include <metal_stdlib>
using namespace metal;

static inline void solve(device const float* in, device float* out, uint n, uint s, float mu, bool face) {
    if (face) {
        for (uint k = 0; k < n; ++k) out[k * s] = in[k * s];
        return;
    }
    float c[260];
    c[0] = 0;
    float d = out[0] = in[0];
    for (uint k = 1; k < n - 1; ++k) {
        const float r = 1 / (1 + 2 * mu - mu * c[k - 1]);
        c[k] = mu * r;
        d = out[k * s] = (out[(k - 1) * s] + mu * d) * r;
    }
    float v = out[(n - 1) * s] = in[(n - 1) * s];
    for (uint k = n - 2; k > 0; --k) v = out[k * s] = out[k * s] + c[k] * v;
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
