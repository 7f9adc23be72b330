// wrong: elements differ
// Counts with a load and a store, so lanes of the same cell take the same slot.
#include <metal_stdlib>
using namespace metal;

inline uint3 cell_of(float3 r, uint M, float L) {
    const float3 w = r - L * floor(r / L);
    return min(uint3(w / L * float(M)), uint3(M - 1u));
}

kernel void lj_clear_cells(device atomic_uint* cell_count [[buffer(0)]],
                           constant uint& M3 [[buffer(1)]],
                           uint gid [[thread_position_in_grid]]) {
    if (gid < M3) atomic_store_explicit(cell_count + gid, 0, memory_order_relaxed);
}

kernel void lj_build_cells(device const float4* pos [[buffer(0)]],
                           device atomic_uint* cell_count [[buffer(1)]],
                           device uint* cell_list [[buffer(2)]],
                           constant uint& N [[buffer(3)]],
                           constant uint& M [[buffer(4)]],
                           constant float& L [[buffer(5)]],
                           constant uint& MAX_PER_CELL [[buffer(6)]],
                           uint i [[thread_position_in_grid]]) {
    if (i >= N) return;
    const uint3 c = cell_of(pos[i].xyz, M, L);
    const uint cell = (c.z * M + c.y) * M + c.x;
    const uint slot = atomic_load_explicit(&cell_count[cell], memory_order_relaxed);
    simdgroup_barrier(mem_flags::mem_device);
    atomic_store_explicit(&cell_count[cell], slot + 1, memory_order_relaxed);
    if (slot < MAX_PER_CELL) cell_list[cell * MAX_PER_CELL + slot] = i;
}
kernel void lj_step(device const float4* pos_in [[buffer(0)]],
                    device float4* pos_out [[buffer(1)]],
                    device const float4* vel_in [[buffer(2)]],
                    device float4* vel_out [[buffer(3)]],
                    device const uint* cell_count [[buffer(4)]],
                    device const uint* cell_list [[buffer(5)]],
                    constant uint& N [[buffer(6)]],
                    constant uint& M [[buffer(7)]],
                    constant float& L [[buffer(8)]],
                    constant float& rcut2 [[buffer(9)]],
                    constant float& dt [[buffer(10)]],
                    constant uint& MAX_PER_CELL [[buffer(11)]],
                    uint i [[thread_position_in_grid]]) {
    if (i >= N) return;
    const float3 r = pos_in[i].xyz;
    const uint3 c = cell_of(r, M, L);
    float3 acc = 0;
    for (uint a = 0; a < 27; ++a) {
        const uint3 n = (c + uint3(a % 3, a / 3 % 3, a / 9) + (M - 1)) % M;
        const uint cell = (n.z * M + n.y) * M + n.x;
        for (uint k = 0; k < min(cell_count[cell], MAX_PER_CELL); ++k) {
            const uint j = cell_list[cell * MAX_PER_CELL + k];
            float3 s = pos_in[j].xyz - r;
            s -= L * round(s / L);
            const float r2 = dot(s, s);
            if (j == i || r2 >= rcut2) continue;
            const float t = 1 / r2, t3 = t * t * t;
            acc -= 24 * (2 * t3 * t3 - t3) * t * s;
        }
    }
    const float3 v = vel_in[i].xyz + acc * dt;
    vel_out[i] = float4(v, 0);
    pos_out[i] = float4(r + v * dt, 0);
}
