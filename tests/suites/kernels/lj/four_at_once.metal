// right
// Whole cells in batches of four neighbours through float4 structures of arrays.
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
    const uint slot = atomic_fetch_add_explicit(&cell_count[cell], 1u, memory_order_relaxed);
    if (slot < MAX_PER_CELL) cell_list[cell * MAX_PER_CELL + slot] = i;
}

struct Four { float4 x, y, z; };

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
    float4 fx(0), fy(0), fz(0);
    for (uint a = 0; a < 27; ++a) {
        const uint3 n = (c + uint3(a % 3, a / 3 % 3, a / 9) + (M - 1)) % M;
        const uint cell = (n.z * M + n.y) * M + n.x;
        const uint count = min(cell_count[cell], MAX_PER_CELL);
        for (uint k = 0; k < count; k += 4) {
            Four d;
            bool4 use;
            for (uint l = 0; l < 4; ++l) {
                const uint j = k + l < count ? cell_list[cell * MAX_PER_CELL + k + l] : i;
                const float3 s = pos_in[j].xyz - r;
                d.x[l] = s.x; d.y[l] = s.y; d.z[l] = s.z;
                use[l] = j != i;
            }
            d.x -= L * round(d.x / L); d.y -= L * round(d.y / L); d.z -= L * round(d.z / L);
            const float4 r2 = d.x * d.x + d.y * d.y + d.z * d.z;
            const bool4 near = use && (r2 < float4(rcut2));
            const float4 t = select(float4(0), 1.0f / r2, near);
            const float4 t3 = t * t * t, f = -24.0f * t * (2.0f * t3 * t3 - t3);
            fx += f * d.x; fy += f * d.y; fz += f * d.z;
        }
    }
    const float3 force = float3(dot(fx, float4(1.0f)), dot(fy, float4(1)), dot(fz, float4(1.0)));
    const float3 v = vel_in[i].xyz + force * dt;
    vel_out[i] = float4(v, 0.0f);
    pos_out[i] = float4(r + v * dt, 0.0f);
}
