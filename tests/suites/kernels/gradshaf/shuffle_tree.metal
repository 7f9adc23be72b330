// right
// A capped threadgroup; a tree of shuffles, then of threadgroup memory.
#include <metal_stdlib>
using namespace metal;

template <typename T, typename Op>
inline T simd_tree(T v, Op op) {
    for (ushort offset = 16; offset > 0; offset >>= 1) v = op(v, simd_shuffle_down(v, offset));
    return v;
}
struct Larger { float operator()(float a, float b) const { return a > b ? a : b; } };

[[max_total_threads_per_threadgroup(128)]]
kernel void gradshaf_axis_reduce(device const float* psi [[buffer(0)]],
                                 device float* psi_axis [[buffer(1)]],
                                 constant uint& NR [[buffer(2)]],
                                 constant uint& NZ [[buffer(3)]],
                                 uint tid [[thread_position_in_threadgroup]],
                                 uint tgsize [[threads_per_threadgroup]]) {
    threadgroup float shared_values[4];
    float best = -INFINITY;
    const uint width = NR - 2, n = width * (NZ - 2);
    for (uint k = tid; k < n; k += tgsize) {
        const uint j = k / width, i = k - j * width;
        const float v = psi[(j + 1) * NR + i + 1];
        best = best < v ? v : best;
    }
    best = simd_tree(best, Larger());
    if (simd_is_first()) shared_values[tid >> 5] = best;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid == 0) {
        for (uint k = 1; k < (tgsize + 31) / 32; ++k) best = max(best, shared_values[k]);
        psi_axis[0] = best;
    }
}
kernel void gradshaf_step(device const float* psi_in [[buffer(0)]],
                          device float* psi_out [[buffer(1)]],
                          device const float* psi_axis [[buffer(2)]],
                          constant uint& NR [[buffer(3)]],
                          constant uint& NZ [[buffer(4)]],
                          constant float& Rmin [[buffer(5)]],
                          constant float& dR [[buffer(6)]],
                          constant float& dZ [[buffer(7)]],
                          constant float& p_axis [[buffer(8)]],
                          constant float& mu0 [[buffer(9)]],
                          constant float& omega [[buffer(10)]],
                          uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NR || gid.y >= NZ) return;
    const uint at = gid.y * NR + gid.x;
    const float c = psi_in[at];
    if (gid.x == 0 || gid.y == 0 || gid.x + 1 == NR || gid.y + 1 == NZ) { psi_out[at] = c; return; }
    const float R = fma(float(gid.x), dR, Rmin);
    const float n = c / psi_axis[0];
    const float J = (n > 0 && n < 1) ? R * p_axis * 4 * n * (1 - n) : 0;
    const float r2 = 1 / (dR * dR), z2 = 1 / (dZ * dZ), slope = 1 / (2 * R * dR), a = -2 * (r2 + z2);
    const float lap = (r2 + slope) * psi_in[at - 1] + (r2 - slope) * psi_in[at + 1] + z2 * (psi_in[at - NR] + psi_in[at + NR]) + a * c;
    psi_out[at] = c + omega * (-mu0 * R * J - lap) / a;
}
