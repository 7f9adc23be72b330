// wrong: elements differ
// Takes 32 threads for granted where the host launches 256.
#include <metal_stdlib>
using namespace metal;

kernel void gradshaf_axis_reduce(device const float* psi [[buffer(0)]],
                                 device float* psi_axis [[buffer(1)]],
                                 constant uint& NR [[buffer(2)]],
                                 constant uint& NZ [[buffer(3)]],
                                 uint tid [[thread_position_in_threadgroup]],
                                 uint tgsize [[threads_per_threadgroup]]) {
    float best = -INFINITY;
    for (uint k = tid; k < NR * NZ; k += tgsize) best = max(best, psi[k]);
    best = simd_max(best);
    if (tid == 0) psi_axis[0] = best;
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
