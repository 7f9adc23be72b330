// right
// The maximum as an ordered integer key, kept by an atomic in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

inline uint key_of(float x) { const uint b = as_type<uint>(x); return b ^ (uint(int(b) >> 31) | 0x80000000u); }
inline float value_of(uint k) { return as_type<float>((k & 0x80000000u) != 0 ? k ^ 0x80000000u : ~k); }

kernel void gradshaf_axis_reduce(device const float* psi [[buffer(0)]],
                                 device float* psi_axis [[buffer(1)]],
                                 constant uint& NR [[buffer(2)]],
                                 constant uint& NZ [[buffer(3)]],
                                 uint tid [[thread_position_in_threadgroup]],
                                 uint tgsize [[threads_per_threadgroup]]) {
    threadgroup atomic_uint largest;
    if (tid == 0) atomic_store_explicit(&largest, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint mine = 0;
    const uint interior = (NR - 2) * (NZ - 2);
    for (uint k = tid; k < interior; k += tgsize) mine = max(mine, key_of(psi[(k / (NR - 2) + 1) * NR + k % (NR - 2) + 1]));
    atomic_fetch_max_explicit(&largest, mine, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid == 0) psi_axis[0] = value_of(atomic_load_explicit(&largest, memory_order_relaxed));
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
                          uint2 gid [[thread_position_in_grid]],
                          uint2 lid [[thread_position_in_threadgroup]],
                          uint flat [[thread_index_in_threadgroup]]) {
    threadgroup float tile[18][18 + 1];
    threadgroup float inverse_axis;
    if (flat == 0) inverse_axis = 1.0f / psi_axis[0];
    const int2 first = int2(gid - lid) - 1;
    for (int k = flat; k < 18 * 18; k += 256) {
        const int x = first.x + k % 18, y = first.y + k / 18;
        tile[k / 18][k % 18] = (x >= 0 && y >= 0 && x < int(NR) && y < int(NZ)) ? psi_in[y * int(NR) + x] : 0.0f;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (gid.x >= NR || gid.y >= NZ) return;
    const float c = tile[lid.y + 1][lid.x + 1];
    float result = c;
    if (gid.x > 0 && gid.y > 0 && gid.x < NR - 1 && gid.y < NZ - 1) {
        const float R = Rmin + dR * gid.x;
        const float n = c * inverse_axis;
        const float J = R * p_axis * 4.0f * n * (1.0f - n) * (n > 0.0f && n < 1.0f ? 1.0f : 0.0f);
        const float aR = 1.0f / (dR * dR), aZ = 1.0f / (dZ * dZ), s = 0.5f / (R * dR), aC = -2.0f * aR - 2.0f * aZ;
        const float op = (aR + s) * tile[lid.y + 1][lid.x] + (aR - s) * tile[lid.y + 1][lid.x + 2] +
                         aZ * (tile[lid.y][lid.x + 1] + tile[lid.y + 2][lid.x + 1]) + aC * c;
        result = fma(omega / aC, -mu0 * R * J - op, c);
    }
    psi_out[gid.y * NR + gid.x] = result;
}
