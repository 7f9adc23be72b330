// right
// No branch for faces: clamped neighbours and one select.
#include <metal_stdlib>
using namespace metal;

struct Grid {
    uint nx, ny, nz;
    Grid(uint x, uint y, uint z) : nx(x), ny(y), nz(z) {}
    uint index(uint3 p) const { return (p.z * ny + p.y) * nx + p.x; }
    uint3 last() const { return uint3(nx, ny, nz) - 1; }
    bool face(uint3 p) const { return any(p == uint3(0)) || any(p == last()); }
};

kernel void wave_step(device const float* u_prev [[buffer(0)]],
                      device const float* u_curr [[buffer(1)]],
                      device float* u_next [[buffer(2)]],
                      constant uint& NX [[buffer(3)]],
                      constant uint& NY [[buffer(4)]],
                      constant uint& NZ [[buffer(5)]],
                      constant float& alpha [[buffer(6)]],
                      uint3 gid [[thread_position_in_grid]]) {
    const Grid grid(NX, NY, NZ);
    if (!all(gid <= grid.last())) return;
    const uint3 lo = max(gid, uint3(1)) - 1;
    const uint3 hi = min(gid + 1, grid.last());
    const float c = u_curr[grid.index(gid)];
    const float sum = u_curr[grid.index(uint3(lo.x, gid.yz))] + u_curr[grid.index(uint3(hi.x, gid.yz))] +
                      u_curr[grid.index(uint3(gid.x, lo.y, gid.z))] + u_curr[grid.index(uint3(gid.x, hi.y, gid.z))] +
                      u_curr[grid.index(uint3(gid.xy, lo.z))] + u_curr[grid.index(uint3(gid.xy, hi.z))];
    const float next = 2 * c - u_prev[grid.index(gid)] + alpha * (sum - 6 * c);
    u_next[grid.index(gid)] = select(next, c, grid.face(gid));
}
