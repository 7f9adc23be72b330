// right
// A threadgroup of 8x8x1 marches; the cap on threads shrinks z first, then every thread still does one cell.
#include <metal_stdlib>
using namespace metal;

[[kernel, max_total_threads_per_threadgroup(64)]]
void wave_step(const device float* u_prev [[buffer(0)]],
               const device float* u_curr [[buffer(1)]],
               device float* u_next [[buffer(2)]],
               constant uint& NX [[buffer(3)]],
               constant uint& NY [[buffer(4)]],
               constant uint& NZ [[buffer(5)]],
               constant float& alpha [[buffer(6)]],
               uint3 gid [[thread_position_in_grid]],
               ushort lane [[thread_index_in_simdgroup]]) {
    const uint plane = NX * NY;
    const uint idx = gid.z * plane + gid.y * NX + gid.x;
    const bool live = all(gid < uint3(NX, NY, NZ));
    const float c = live ? u_curr[idx] : 0;
    const ushort col = lane & 7;
    const float left = simd_shuffle(c, ushort(lane - 1) & 31), right = simd_shuffle(c, ushort(lane + 1) & 31);
    if (not live) return;
    const uint3 last = uint3(NX, NY, NZ) - 1u;
    if (any(gid == 0u) or any(gid == last)) { u_next[idx] = c; return; }
    float w = col == 0 ? u_curr[idx - 1] : left;
    float e = col == 7 ? u_curr[idx + 1] : right;
    float s = w + e;
    s += u_curr[idx - NX];
    s += u_curr[idx + NX];
    s += u_curr[idx - plane];
    s += u_curr[idx + plane];
    u_next[idx] = fma(alpha, fma(c, -6.0f, s), fma(2.0f, c, -u_prev[idx]));
}
