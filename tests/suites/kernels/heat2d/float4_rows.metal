// right
// Each fourth thread writes four cells of its row at once; cells at the ends are done one by one.
#include <metal_stdlib>
using namespace metal;

static inline float cell_of(device const float* u, uint x, uint y, uint nx, uint ny, float alpha) {
    const uint i = y * nx + x;
    const float c = u[i];
    return (x == 0 || y == 0 || x + 1 == nx || y + 1 == ny) ? c
         : c + alpha * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] - 4.0f * c);
}

kernel void heat_step(device const float* u_in [[buffer(0)]],
                      device float* u_out [[buffer(1)]],
                      constant uint& NX [[buffer(2)]],
                      constant uint& NY [[buffer(3)]],
                      constant float& alpha [[buffer(4)]],
                      uint2 gid [[thread_position_in_grid]]) {
    if (gid.y >= NY || gid.x >= NX || (gid.x & 3u)) return;
    const uint x = gid.x, y = gid.y, i = y * NX + x;
    const bool bulk = x > 0 && x + 4 < NX && y > 0 && y + 1 < NY;
    if (bulk) {
        const float4 c = float4(*(device const packed_float4*)(u_in + i));
        const float4 n = float4(*(device const packed_float4*)(u_in + i - NX));
        const float4 s = float4(*(device const packed_float4*)(u_in + i + NX));
        const float4 w = float4(u_in[i - 1], c.xyz);
        const float4 e = float4(c.yzw, u_in[i + 4]);
        *(device packed_float4*)(u_out + i) = packed_float4(c + alpha * (w + e + n + s - 4.0f * c));
    } else {
        for (uint k = 0; k < 4 && x + k < NX; k++) u_out[i + k] = cell_of(u_in, x + k, y, NX, NY, alpha);
    }
}
