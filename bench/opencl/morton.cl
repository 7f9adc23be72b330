// An explicit heat step on a cube in Morton order: shaders/sci/morton.metal in OpenCL C.
// Every third bit of a Morton index, from bit 0 on; ten bits at most.
static uint gather(uint index) {
    uint x = index & 0x09249249u;
    x = (x | (x >> 2)) & 0x030C30C3u;
    x = (x | (x >> 4)) & 0x0300F00Fu;
    x = (x | (x >> 8)) & 0x030000FFu;
    return (x | (x >> 16)) & 0x000003FFu;
}

static uint spread(uint coordinate) {
    uint x = coordinate;
    x = (x | (x << 16)) & 0x030000FFu;
    x = (x | (x << 8)) & 0x0300F00Fu;
    x = (x | (x << 4)) & 0x030C30C3u;
    return (x | (x << 2)) & 0x09249249u;
}

static uint morton(uint x, uint y, uint z) {
    return spread(x) | (spread(y) << 1) | (spread(z) << 2);
}

kernel void morton_stencil(global const float* u_in, global float* u_out, uint N, uint logN, float alpha) {
    uint tid = get_global_id(0);
    if (tid >= N * N * N) return;
    uint x = gather(tid);
    uint y = gather(tid >> 1);
    uint z = gather(tid >> 2);
    float u = u_in[tid];
    if (x == 0 || y == 0 || z == 0 || x == N - 1 || y == N - 1 || z == N - 1) {
        u_out[tid] = u;
        return;
    }
    float neighbours = u_in[morton(x - 1, y, z)] + u_in[morton(x + 1, y, z)] +
                       u_in[morton(x, y - 1, z)] + u_in[morton(x, y + 1, z)] +
                       u_in[morton(x, y, z - 1)] + u_in[morton(x, y, z + 1)];
    u_out[tid] = u + alpha * (neighbours - 6.0f * u);
}
