// right
// 256 consecutive cells are a block of 8x8x4; neighbours inside it come from threadgroup memory.
#include <metal_stdlib>
using namespace metal;

static inline uint spread3(uint v) {
    v &= 0x3FFu;
    v = (v ^ (v << 16)) & 0xFF0000FFu;
    v = (v ^ (v << 8)) & 0x0300F00Fu;
    v = (v ^ (v << 4)) & 0x030C30C3u;
    v = (v ^ (v << 2)) & 0x09249249u;
    return v;
}
static inline uint compact3(uint v) {
    v &= 0x09249249u;
    v = (v ^ (v >> 2)) & 0x030C30C3u;
    v = (v ^ (v >> 4)) & 0x0300F00Fu;
    v = (v ^ (v >> 8)) & 0xFF0000FFu;
    v = (v ^ (v >> 16)) & 0x3FFu;
    return v;
}
static inline uint encode(uint3 p) { return spread3(p.x) | spread3(p.y) << 1 | spread3(p.z) << 2; }

[[max_total_threads_per_threadgroup(256)]]
kernel void morton_stencil(device const float* u_in [[buffer(0)]],
                           device float* u_out [[buffer(1)]],
                           constant uint& N [[buffer(2)]],
                           constant uint& logN [[buffer(3)]],
                           constant float& alpha [[buffer(4)]],
                           uint tid [[thread_position_in_grid]],
                           uint t [[thread_position_in_threadgroup]],
                           uint group [[threadgroup_position_in_grid]]) {
    threadgroup float block[256];
    const uint total = 1u << (logN * 3u);
    const bool live = tid < total;
    if (live) block[t] = u_in[tid];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (!live) return;
    const uint3 p = uint3(compact3(tid), compact3(tid >> 1), compact3(tid >> 2));
    const float c = block[t];
    if (any(p == 0u) || any(p == N - 1u)) { u_out[tid] = c; return; }
    float s = 0.0f;
    const int3 step[3] = {int3(1, 0, 0), int3(0, 1, 0), int3(0, 0, 1)};
    for (int axis = 0; axis < 3; ++axis) {
        for (int sign = -1; sign <= 1; sign += 2) {
            const uint at = encode(uint3(int3(p) + sign * step[axis]));
            s += (at >> 8) == group ? block[at & 255u] : u_in[at];
        }
    }
    u_out[tid] = c + alpha * (s - 6.0f * c);
}
