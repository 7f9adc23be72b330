// right
// Simd_max within simdgroups, threadgroup memory between them; the first simdgroup finishes.
#include <metal_stdlib>
using namespace metal;

[[max_total_threads_per_threadgroup(256)]]
kernel void gradshaf_axis_reduce(device const float* psi [[buffer(0)]],
                                 device float* psi_axis [[buffer(1)]],
                                 constant uint& NR [[buffer(2)]],
                                 constant uint& NZ [[buffer(3)]],
                                 uint tid [[thread_position_in_threadgroup]],
                                 uint tgsize [[threads_per_threadgroup]],
                                 uint lane [[thread_index_in_simdgroup]],
                                 uint sg [[simdgroup_index_in_threadgroup]],
                                 uint groups [[simdgroups_per_threadgroup]]) {
    threadgroup float partial[32];
    float best = -FLT_MAX;
    for (uint j = 1 + sg; j < NZ - 1; j += groups) {
        device const float* row = psi + j * NR;
        for (uint i = 1 + lane; i < NR - 1; i += 32) best = fmax(best, row[i]);
    }
    best = simd_max(best);
    if (lane == 0) partial[sg] = best;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (sg == 0) {
        const float v = simd_max(lane < groups ? partial[lane] : -INFINITY);
        if (lane == 0) *psi_axis = v;
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
