// Lennard-Jones dynamics with cell lists: shaders/sci/lj.metal in OpenCL C.
static uint3 cell_of(float3 position, uint M, float L) {
    float3 wrapped = position - L * floor(position / L);
    // Rounding can put an atom just left of the edge onto it.
    return min(convert_uint3(wrapped * ((float)(M) / L)), (uint3)(M - 1));
}

kernel void lj_clear_cells(global atomic_uint* cell_count, uint M3) {
    uint gid = get_global_id(0);
    if (gid >= M3) return;
    atomic_store_explicit(&cell_count[gid], 0u, memory_order_relaxed);
}

kernel void lj_build_cells(global const float4* pos, global atomic_uint* cell_count, global uint* cell_list,
                           uint N, uint M, float L, uint MAX_PER_CELL) {
    uint i = get_global_id(0);
    if (i >= N) return;
    uint3 c = cell_of(pos[i].xyz, M, L);
    uint cell = (c.z * M + c.y) * M + c.x;
    uint slot = atomic_fetch_add_explicit(&cell_count[cell], 1u, memory_order_relaxed);
    if (slot < MAX_PER_CELL) {
        cell_list[cell * MAX_PER_CELL + slot] = i;
    }
}

kernel void lj_step(global const float4* pos_in, global float4* pos_out,
                    global const float4* vel_in, global float4* vel_out,
                    global const uint* cell_count, global const uint* cell_list,
                    uint N, uint M, float L, float rcut2, float dt, uint MAX_PER_CELL) {
    uint i = get_global_id(0);
    if (i >= N) return;
    float3 position = pos_in[i].xyz;
    uint3 own = cell_of(position, M, L);
    float3 force = (float3)(0.0f);
    for (uint around = 0; around < 27; ++around) {
        uint3 offset = (uint3)(around % 3, (around / 3) % 3, around / 9);
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
    vel_out[i] = (float4)(velocity, 0.0f);
    pos_out[i] = (float4)(position + velocity * dt, 0.0f);
}
