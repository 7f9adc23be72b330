#include <metal_stdlib>
using namespace metal;

constant float kSixth = 1.0f / 6.0f;

struct Level {
    uint3 size;
    float h2;
};

#define IDX(l, i, j, k) (((k) * (l).size.y + (j)) * (l).size.x + (i))
#define IN_BOUNDS(p, l) all((p) > uint3(0)) && all((p) < (l).size - 1)

kernel void smooth(device const float* restrict u [[buffer(0)]], device const float* __restrict f [[buffer(1)]], device float* out [[buffer(2)]],
                   constant Level& l [[buffer(3)]], uint3 p [[thread_position_in_grid]]) {
    if (!(IN_BOUNDS(p, l))) {
        if (all(p < l.size)) out[IDX(l, p.x, p.y, p.z)] = u[IDX(l, p.x, p.y, p.z)];
        return;
    }
    const uint i = IDX(l, p.x, p.y, p.z);
    const uint sx = 1, sy = l.size.x, sz = l.size.x * l.size.y;
    float s = u[i - sx] + u[i + sx] + u[i - sy] + u[i + sy] + u[i - sz] + u[i + sz];
    out[i] = (s + l.h2 * f[i]) * kSixth;
}

kernel void restrict_grid(device const float* fine [[buffer(0)]], device float* coarse [[buffer(1)]], constant Level* levels [[buffer(2)]],
                          uint3 p [[thread_position_in_grid]]) {
    constant Level& a = levels[0];
    constant Level& b = levels[1];
    if (any(p >= b.size)) return;
    float s = 0.0f;
    for (uint dz = 0; dz < 2; ++dz)
        for (uint dy = 0; dy < 2; ++dy)
            for (uint dx = 0; dx < 2; ++dx) s += fine[IDX(a, min(2 * p.x + dx, a.size.x - 1), min(2 * p.y + dy, a.size.y - 1), min(2 * p.z + dz, a.size.z - 1))];
    coarse[IDX(b, p.x, p.y, p.z)] = 0.125f * s;
}
