// right
// Thomas with the eliminated coefficients in threadgroup memory, a column for each of the 32 threads.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint LONGEST = 250;

static void solve(device const float* in, device float* out, uint n, uint stride, float mu, bool face, threadgroup float (*upper)[32], uint t) {
    if (face) {
        for (uint k = 0; k < n; ++k) out[k * stride] = in[k * stride];
        return;
    }
    const float b = 1.0f + 2.0f * mu;
    float c = 0.0f, d = in[0];
    out[0] = d;
    for (uint k = 1; k < n - 1; ++k) {
        const float r = 1.0f / (b - mu * c);
        c = mu * r;
        d = fma(mu, d, in[k * stride]) * r;
        if (k < LONGEST) upper[k][t] = c;
        out[k * stride] = d;
    }
    float next = in[(n - 1) * stride];
    out[(n - 1) * stride] = next;
    for (uint k = n - 2; k >= 1; --k) {
        next = fma(k < LONGEST ? upper[k][t] : c, next, out[k * stride]);
        out[k * stride] = next;
    }
}
[[max_total_threads_per_threadgroup(32)]]
kernel void adi_x(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]]) {
    threadgroup float upper[LONGEST][32];
    const bool face = gid.x == 0 || gid.y == 0 || gid.x == NY - 1 || gid.y == NZ - 1;
    solve(u_in + (gid.y * NY + gid.x) * NX, u_out + (gid.y * NY + gid.x) * NX, NX, 1, mu, face, upper, t);
}
[[max_total_threads_per_threadgroup(32)]]
kernel void adi_y(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]]) {
    threadgroup float upper[LONGEST][32];
    const bool face = gid.x == 0 || gid.y == 0 || gid.x == NX - 1 || gid.y == NZ - 1;
    solve(u_in + gid.y * NY * NX + gid.x, u_out + gid.y * NY * NX + gid.x, NY, NX, mu, face, upper, t);
}
[[max_total_threads_per_threadgroup(32)]]
kernel void adi_z(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]]) {
    threadgroup float upper[LONGEST][32];
    const bool face = gid.x == 0 || gid.y == 0 || gid.x == NX - 1 || gid.y == NY - 1;
    solve(u_in + gid.y * NX + gid.x, u_out + gid.y * NX + gid.x, NZ, NX * NY, mu, face, upper, t);
}
