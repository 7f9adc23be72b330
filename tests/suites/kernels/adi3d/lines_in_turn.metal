// right
// A simdgroup takes its 32 lines one after another; their addresses go round by shuffles, past lanes that `continue`.
#include <metal_stdlib>
using namespace metal;

struct Affine { float a, b; };   // v -> a v + b
static inline Affine after(Affine g, Affine f) { return {g.a * f.a, fma(g.a, f.b, g.b)}; }

static void solve(device const float* in, device float* out, uint n, uint stride, float mu, bool face, uint lane, uint lanes) {
    const ulong own_in = (ulong)in, own_out = (ulong)out;
    for (ushort k = 0; k < lanes; ++k) {
        const uint2 pi = uint2(own_in & 0xFFFFFFFFul, own_in >> 32), po = uint2(own_out & 0xFFFFFFFFul, own_out >> 32);
        const uint2 qi = simd_shuffle(pi, k), qo = simd_shuffle(po, k);
        device const float* line = (device const float*)((ulong(qi.y) << 32) | qi.x);
        device float* to = (device float*)((ulong(qo.y) << 32) | qo.x);
        const bool copies = simd_shuffle(uint(face), k) != 0;
        if (copies) {
            for (uint m = lane; m < n; m += lanes) to[m * stride] = line[m * stride];
            continue;
        }
        if (lane != 0) continue;
        float c[512];
        float d = line[0];
        c[0] = 0;
        to[0] = d;
        for (uint m = 1; m < n - 1; ++m) {
            const float r = 1 / (1 + 2 * mu - mu * c[m - 1]);
            c[m] = mu * r;
            d = (line[m * stride] + mu * d) * r;
            to[m * stride] = d;
        }
        Affine back{0, line[(n - 1) * stride]};
        to[(n - 1) * stride] = back.b;
        for (uint m = n - 2; m > 0; --m) {
            back = after(Affine{c[m], to[m * stride]}, back);
            to[m * stride] = back.b;
        }
    }
}
kernel void adi_x(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint2 shape [[threads_per_threadgroup]]) {
    const bool face = gid.x == 0 || gid.y == 0 || gid.x == NY - 1 || gid.y == NZ - 1;
    solve(u_in + (gid.y * NY + gid.x) * NX, u_out + (gid.y * NY + gid.x) * NX, NX, 1, mu, face, lane, shape.x * shape.y);
}
kernel void adi_y(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint2 shape [[threads_per_threadgroup]]) {
    const bool face = gid.x == 0 || gid.y == 0 || gid.x == NX - 1 || gid.y == NZ - 1;
    solve(u_in + gid.y * NY * NX + gid.x, u_out + gid.y * NY * NX + gid.x, NY, NX, mu, face, lane, shape.x * shape.y);
}
kernel void adi_z(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint2 shape [[threads_per_threadgroup]]) {
    const bool face = gid.x == 0 || gid.y == 0 || gid.x == NX - 1 || gid.y == NY - 1;
    solve(u_in + gid.y * NX + gid.x, u_out + gid.y * NX + gid.x, NZ, NX * NY, mu, face, lane, shape.x * shape.y);
}
