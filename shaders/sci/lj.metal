// One step of Lennard-Jones dynamics: clear the cells, sort the atoms into them, move the atoms.
#include <metal_stdlib>
using namespace metal;

static uint3 cell_of(float3 position, uint M, float L) {
    float3 wrapped = position - L * floor(position / L);
    // Rounding can put an atom just left of the edge onto it.
    return min(uint3(wrapped * (float(M) / L)), uint3(M - 1));
}

kernel void lj_clear_cells(device atomic_uint* cell_count [[buffer(0)]],
                           constant uint& M3 [[buffer(1)]],
                           uint gid [[thread_position_in_grid]]) {
    if (gid >= M3) return;
    atomic_store_explicit(&cell_count[gid], 0u, memory_order_relaxed);
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
    uint3 c = cell_of(pos[i].xyz, M, L);
    uint cell = (c.z * M + c.y) * M + c.x;
    uint slot = atomic_fetch_add_explicit(&cell_count[cell], 1u, memory_order_relaxed);
    if (slot < MAX_PER_CELL) {
        cell_list[cell * MAX_PER_CELL + slot] = i;
    }
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
    float3 position = pos_in[i].xyz;
    uint3 own = cell_of(position, M, L);
    float3 force = float3(0.0f);
    for (uint around = 0; around < 27; ++around) {
        uint3 offset = uint3(around % 3, (around / 3) % 3, around / 9);
        uint3 c = (own + offset + M - 1) % M;
        uint cell = (c.z * M + c.y) * M + c.x;
        uint count = min(cell_count[cell], MAX_PER_CELL);
        for (uint slot = 0; slot < count; ++slot) {
            uint j = cell_list[cell * MAX_PER_CELL + slot];
            if (j == i) continue;
            float3 apart = pos_in[j].xyz - position;
            apart -= L * round(apart / L);
            float r2 = dot(apart, apart);
            if (r2 >= rcut2) continue;
            float t = 1.0f / r2;
            float q = t * t * t;
            force -= 24.0f * (2.0f * q * q - q) * t * apart;
        }
    }
    float3 velocity = vel_in[i].xyz + force * dt;
    vel_out[i] = float4(velocity, 0.0f);
    pos_out[i] = float4(position + velocity * dt, 0.0f);
}
