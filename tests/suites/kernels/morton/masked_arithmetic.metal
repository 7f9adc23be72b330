// right
// Neighbours by arithmetic on the interleaved bits, without decoding.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint X = 0x09249249u, Y = 0x12492492u, Z = 0x24924924u;

inline uint plus_one(uint m, uint axis) { return (((m | ~axis) + 1u) & axis) | (m & ~axis); }
inline uint minus_one(uint m, uint axis) { return (((m & axis) - 1u) & axis) | (m & ~axis); }

kernel void morton_stencil(device const float* u_in [[buffer(0)]],
                           device float* u_out [[buffer(1)]],
                           constant uint& N [[buffer(2)]],
                           constant uint& logN [[buffer(3)]],
                           constant float& alpha [[buffer(4)]],
                           uint tid [[thread_position_in_grid]]) {
    const uint total = 1u << (3 * logN);
    if (tid >= total) return;
    const uint used = total - 1;
    const float c = u_in[tid];
    const uint x = tid & X, y = tid & Y, z = tid & Z;
    const bool face = x == 0 || y == 0 || z == 0 || x == (X & used) || y == (Y & used) || z == (Z & used);
    float r = c;
    if (!face) {
        const float s = u_in[plus_one(tid, X)] + u_in[minus_one(tid, X)] + u_in[plus_one(tid, Y)] +
                        u_in[minus_one(tid, Y)] + u_in[plus_one(tid, Z)] + u_in[minus_one(tid, Z)];
        r = fma(alpha, fma(-6.0f, c, s), c);
    }
    u_out[tid] = r;
}
