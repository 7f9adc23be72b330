// right
// Counts in threadgroup memory first, then one device atomic for each cell of the threadgroup's window of the table.
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
                           uint t [[thread_position_in_threadgroup]],
                           uint size [[threads_per_threadgroup]]) {
    constexpr uint slots = 512;
    threadgroup atomic_uint keys[slots];
    threadgroup atomic_uint counts[slots];
    threadgroup uint bases[slots];
    for (uint k = t; k < slots; k += size) {
        atomic_store_explicit(&keys[k], 0xFFFFFFFFu, memory_order_relaxed);
        atomic_store_explicit(&counts[k], 0u, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint cell = 0, at = 0, rank = 0;
    if (i < N) {
        const uint3 c = cell_of(pos[i].xyz, M, L);
        cell = (c.z * M + c.y) * M + c.x;
        at = (cell * 2654435761u) % slots;
        while (true) {
            uint expected = 0xFFFFFFFFu;
            if (atomic_compare_exchange_weak_explicit(&keys[at], &expected, cell, memory_order_relaxed, memory_order_relaxed) ||
                expected == cell)
                break;
            if (expected != 0xFFFFFFFFu) at = (at + 1) % slots;
        }
        rank = atomic_fetch_add_explicit(&counts[at], 1u, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = t; k < slots; k += size) {
        const uint n = atomic_load_explicit(&counts[k], memory_order_relaxed);
        if (n > 0)
            bases[k] = atomic_fetch_add_explicit(&cell_count[atomic_load_explicit(&keys[k], memory_order_relaxed)], n, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < N && bases[at] + rank < MAX_PER_CELL) cell_list[cell * MAX_PER_CELL + bases[at] + rank] = i;
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
    const float4 p = pos_in[i];
    const uint3 c = cell_of(p.xyz, M, L);
    float fx = 0, fy = 0, fz = 0;
    const float half_box = 0.5f * L;
    const uint3 low = select(c - 1, uint3(M - 1), c == 0), high = select(c + 1, uint3(0), c == M - 1);
    const uint xs[3] = {low.x, c.x, high.x}, ys[3] = {low.y, c.y, high.y}, zs[3] = {low.z, c.z, high.z};
    for (ushort a = 0; a < 27; ++a) {
        const uint cell = (zs[a / 9] * M + ys[a / 3 % 3]) * M + xs[a % 3];
        const uint count = min(cell_count[cell], MAX_PER_CELL);
        for (uint k = 0; k < count; ++k) {
            const uint j = cell_list[cell * MAX_PER_CELL + k];
            if (j == i) continue;
            const float4 other = pos_in[j];
            float dx = other.x - p.x, dy = other.y - p.y, dz = other.z - p.z;
            dx -= dx > half_box ? L : dx < -half_box ? -L : 0.0f;
            dy -= dy > half_box ? L : dy < -half_box ? -L : 0.0f;
            dz -= dz > half_box ? L : dz < -half_box ? -L : 0.0f;
            const float r2 = dx * dx + dy * dy + dz * dz;
            if (!(r2 < rcut2)) continue;
            const float inv = 1.0f / r2, inv6 = inv * inv * inv, f = 24.0f * inv * inv6 * (1.0f - 2.0f * inv6);
            fx = fma(f, dx, fx); fy = fma(f, dy, fy); fz = fma(f, dz, fz);
        }
    }
    const float3 v = vel_in[i].xyz + float3(fx, fy, fz) * dt;
    vel_out[i] = float4(v, 0.0f);
    pos_out[i] = float4(p.xyz + v * dt, 0.0f);
}
