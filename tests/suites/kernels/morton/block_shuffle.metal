// right
// A simdgroup is a 4x4x2 block: three of the six neighbours come from lanes.
#include <metal_stdlib>
using namespace metal;

template <int axis>
inline float neighbour(device const float* u, float own, uint m, uint lane, bool up) {
    constexpr uint mask = 0x09249249u << axis;
    const uint to = up ? (((m | ~mask) + 1) & mask) | (m & ~mask) : (((m & mask) - 1) & mask) | (m & ~mask);
    const float shuffled = simd_shuffle(own, ushort(to & 31u));
    if ((m & mask) == 0 && !up) return 0.0f;
    return (to ^ m) < 32u ? shuffled : u[to];
}

kernel void morton_stencil(device const float* u_in [[buffer(0)]],
                           device float* u_out [[buffer(1)]],
                           constant uint& N [[buffer(2)]],
                           constant uint& logN [[buffer(3)]],
                           constant float& alpha [[buffer(4)]],
                           uint tid [[thread_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
    // The grid is a multiple of 256 for every N of 8 or more.
    const uint total = N * N * N, used = total - 1;
    const float c = u_in[min(tid, used)];
    bool face = false;
    for (uint axis = 0; axis < 3; ++axis) {
        const uint mask = (0x09249249u << axis) & used, v = tid & mask;
        face |= v == 0 || v == mask;
    }
    // On a face an axis may wrap; the masks keep the index within the array.
    const uint m = min(tid, used);
    float s = 0;
    s += neighbour<0>(u_in, c, m, lane, false);
    s += face ? 0.0f : u_in[(((m | ~0x09249249u) + 1) & 0x09249249u) | (m & ~0x09249249u)];
    if (tid >= total) return;
    if (face) { u_out[tid] = c; return; }
    const uint y = 0x12492492u, z = 0x24924924u;
    s += u_in[(((m & y) - 1) & y) | (m & ~y)] + u_in[(((m | ~y) + 1) & y) | (m & ~y)];
    s += u_in[(((m & z) - 1) & z) | (m & ~z)] + u_in[(((m | ~z) + 1) & z) | (m & ~z)];
    u_out[tid] = c + alpha * (s - 6.0f * c);
}
