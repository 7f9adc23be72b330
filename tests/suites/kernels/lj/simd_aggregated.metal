// right
// Lanes that go to the same cell add once for all of them; the force loop is unrolled over rows of cells.
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
                           uint i [[thread_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
    const bool mine = i < N;
    const uint3 c = mine ? cell_of(pos[i].xyz, M, L) : uint3(0);
    const uint cell = (c.z * M + c.y) * M + c.x;
    bool todo = mine;
    uint slot = 0;
    while (simd_any(todo)) {
        const uint leader = ctz(uint((simd_vote::vote_t)simd_ballot(todo)));
        const uint target = simd_broadcast(cell, ushort(leader));
        const bool same = todo && cell == target;
        const uint group = uint(simd_vote::vote_t(simd_ballot(same)));
        uint start = 0;
        if (lane == leader) start = atomic_fetch_add_explicit(&cell_count[target], popcount(group), memory_order_relaxed);
        start = simd_broadcast(start, ushort(leader));
        if (same) {
            slot = start + popcount(group & ((1u << lane) - 1u));
            todo = false;
        }
    }
    if (mine && slot < MAX_PER_CELL) cell_list[cell * MAX_PER_CELL + slot] = i;
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
    const int3 home = int3(cell_of(r, M, L));
    const int m = int(M);
    const float inv_L = 1.0f / L;
    float3 acc = 0.0f;
    for (int dz = -1; dz <= 1; ++dz) {
        const int z = (home.z + dz + m) % m;
        for (int dy = -1; dy <= 1; ++dy) {
            const int y = (home.y + dy + m) % m;
            #pragma unroll
            for (int dx = -1; dx <= 1; ++dx) {
                const uint cell = uint((z * m + y) * m + (home.x + dx + m) % m);
                const uint count = min(cell_count[cell], MAX_PER_CELL);
                device const uint* list = cell_list + cell * MAX_PER_CELL;
                for (uint k = 0; k < count; ++k) {
                    const uint j = list[k];
                    float3 s = pos_in[j].xyz - r;
                    s = fma(float3(-L), rint(s * inv_L), s);
                    const float r2 = dot(s, s);
                    const bool near = (j != i) && (r2 < rcut2);
                    const float t = near ? 1.0f / r2 : 0.0f;
                    const float t3 = t * t * t;
                    acc -= (24.0f * t * t3 * (2.0f * t3 - 1.0f)) * s;
                }
            }
        }
    }
    const float3 v = fma(acc, dt, vel_in[i].xyz);
    vel_out[i] = float4(v, 0);
    pos_out[i] = float4(fma(v, dt, r), 0);
}
