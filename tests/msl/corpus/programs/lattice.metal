#include <metal_stdlib>
using namespace metal;

#define Q 9
constant int2 C[Q] = {int2(0, 0), int2(1, 0), int2(0, 1), int2(-1, 0), int2(0, -1), int2(1, 1), int2(-1, 1), int2(-1, -1), int2(1, -1)};
constant float W[Q] = {4.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0};
constant uchar OPP[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};

struct Grid {
    uint width, height;
    float omega;
    float2 force;
    inline uint index(uint x, uint y, uint q) const constant { return (q * height + y) * width + x; }
    uint wrap_x(int x) const constant { return uint(x + int(width)) % width; }
};

float equilibrium(uint q, float rho, float2 u) {
    const float cu = 3.0f * dot(float2(C[q]), u);
    return W[q] * rho * (1.0f + cu + 0.5f * cu * cu - 1.5f * dot(u, u));
}

kernel void collide_stream(device const float* f_in [[buffer(0)]], device float* f_out [[buffer(1)]], constant Grid& grid [[buffer(2)]],
                           device const uchar* solid [[buffer(3)]], uint2 pos [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
    if (any(pos >= uint2(grid.width, grid.height))) return;
    float f[Q];
    float rho = 0.0;
    float2 u = float2(0.0);
    for (int q = 0; q < Q; ++q) {
        const int2 from = int2(pos) - C[q];
        const uint2 wrapped = uint2((from + int2(size)) % int2(size));
        f[q] = f_in[grid.index(wrapped.x, wrapped.y, q)];
        rho += f[q];
        u += f[q] * float2(C[q]);
    }
    u = u / rho + grid.force;
    const bool is_solid = solid[pos.y * grid.width + pos.x] != 0;
    for (uint q = 0; q < Q; ++q) {
        const float relaxed = mix(f[q], equilibrium(q, rho, u), grid.omega);
        f_out[grid.index(pos.x, pos.y, is_solid ? OPP[q] : q)] = select(relaxed, f[q], is_solid);
    }
}

kernel void stencil_float4(device const float4* src [[buffer(0)]], device float4* dst [[buffer(1)]], constant uint2& dims [[buffer(2)]],
                           uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= dims.x || gid.y >= dims.y) { return; }
    const uint row = gid.y * dims.x;
    float4 c = src[row + gid.x];
    float left = gid.x > 0 ? src[row + gid.x - 1].w : c.x;
    float right = gid.x + 1 < dims.x ? src[row + gid.x + 1].x : c.w;
    float4 up = gid.y > 0 ? src[row - dims.x + gid.x] : c;
    float4 down = gid.y + 1 < dims.y ? src[row + dims.x + gid.x] : c;
    float4 lap = float4(left, c.xyz) + float4(c.yzw, right) + up + down - 4.0f * c;
    dst[row + gid.x] = c + 0.1f * lap;
}
