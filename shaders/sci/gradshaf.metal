// One Picard step of the Grad-Shafranov equation: the interior maximum of psi, then a relaxation of every point.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MAX_THREADS = 256;

kernel void gradshaf_axis_reduce(device const float* psi [[buffer(0)]],
                                 device float* psi_axis [[buffer(1)]],
                                 constant uint& NR [[buffer(2)]],
                                 constant uint& NZ [[buffer(3)]],
                                 uint tid [[thread_position_in_threadgroup]],
                                 uint tgsize [[threads_per_threadgroup]]) {
    threadgroup float largest[MAX_THREADS];
    uint width = NR - 2;
    uint interior = width * (NZ - 2);
    float best = -INFINITY;
    for (uint point = tid; point < interior; point += tgsize) {
        uint j = point / width + 1;
        uint i = point % width + 1;
        best = max(best, psi[j * NR + i]);
    }
    largest[tid] = best;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_size = tgsize / 2; half_size > 0; half_size /= 2) {
        if (tid < half_size) {
            largest[tid] = max(largest[tid], largest[tid + half_size]);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (tid == 0) {
        psi_axis[0] = largest[0];
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
    uint i = gid.x;
    uint j = gid.y;
    if (i >= NR || j >= NZ) return;
    uint point = j * NR + i;
    float psi = psi_in[point];
    if (i == 0 || j == 0 || i == NR - 1 || j == NZ - 1) {
        psi_out[point] = psi;
        return;
    }
    float R = Rmin + float(i) * dR;
    float n = psi / psi_axis[0];
    float J = n > 0.0f && n < 1.0f ? R * p_axis * 4.0f * n * (1.0f - n) : 0.0f;

    float inverse_dR2 = 1.0f / (dR * dR);
    float inverse_dZ2 = 1.0f / (dZ * dZ);
    float slope = 1.0f / (2.0f * R * dR);
    float centre = -2.0f * inverse_dR2 - 2.0f * inverse_dZ2;
    float laplacian = (inverse_dR2 + slope) * psi_in[point - 1] + (inverse_dR2 - slope) * psi_in[point + 1] +
                      inverse_dZ2 * (psi_in[point + NR] + psi_in[point - NR]) + centre * psi;
    psi_out[point] = psi + omega * (-mu0 * R * J - laplacian) / centre;
}
