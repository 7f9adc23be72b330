// One step of Lennard-Jones dynamics: cells wrap around by comparison, distances by multiplication instead of division.
#include <metal_stdlib>
using namespace metal;

static uint3 cell_of(float3 position, uint M, float L) {
    float3 wrapped = position - L * floor(position / L);
    // Rounding can put an atom just left of the edge onto it.
    return min(uint3(wrapped * (float(M) / L)), uint3(M - 1));
}

// The neighbour of cell c on one axis: 0 below, 1 itself, 2 above, around the box.
static uint neighbour(uint c, uint which, uint M) {
    uint moved = c + which;
    return moved == 0 ? M - 1 : moved == M + 1 ? 0 : moved - 1;
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
    float inverse_L = 1.0f / L;
    float3 force = float3(0.0f);
    for (uint dz = 0; dz < 3; ++dz) {
        uint z = neighbour(own.z, dz, M);
        for (uint dy = 0; dy < 3; ++dy) {
            uint row = (z * M + neighbour(own.y, dy, M)) * M;
            for (uint dx = 0; dx < 3; ++dx) {
                uint cell = row + neighbour(own.x, dx, M);
                uint count = min(cell_count[cell], MAX_PER_CELL);
                device const uint* members = cell_list + cell * MAX_PER_CELL;
                for (uint slot = 0; slot < count; ++slot) {
                    uint j = members[slot];
                    float3 apart = pos_in[j].xyz - position;
                    apart -= L * rint(apart * inverse_L);
                    float r2 = dot(apart, apart);
                    // The atom itself is at distance zero.
                    if (r2 < rcut2 && j != i) {
                        float t = 1.0f / r2;
                        float q = t * t * t;
                        force -= (24.0f * t * q * (2.0f * q - 1.0f)) * apart;
                    }
                }
            }
        }
    }
    float3 velocity = vel_in[i].xyz + force * dt;
    vel_out[i] = float4(velocity, 0.0f);
    pos_out[i] = float4(position + velocity * dt, 0.0f);
}
