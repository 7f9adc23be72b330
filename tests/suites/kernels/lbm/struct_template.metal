// right
// The velocity set as template arguments; a fold over a pack.
#include <metal_stdlib>
using namespace metal;

namespace lattice {
template <int X, int Y>
struct Link {
    static constexpr constant int x = X;
    static constexpr constant int y = Y;
    static constexpr float weight() { return X * X + Y * Y == 0 ? 4.0f / 9.0f : X * X + Y * Y == 1 ? 1.0f / 9.0f : 1.0f / 36.0f; }
    static float equilibrium(float rho, float2 u) {
        const float c = X * u.x + Y * u.y;
        return weight() * rho * (1.0f + c * (3.0f + 4.5f * c) - 1.5f * dot(u, u));
    }
};

struct Place {
    uint x, y, nx, ny;
    template <typename L>
    uint upstream() const {
        const uint i = L::x == 0 ? x : L::x == 1 ? (x == 0 ? nx - 1 : x - 1) : (x == nx - 1 ? 0 : x + 1);
        const uint j = L::y == 0 ? y : L::y == 1 ? (y == 0 ? ny - 1 : y - 1) : (y == ny - 1 ? 0 : y + 1);
        return j * nx + i;
    }
};

template <typename... L>
inline void step(device const float* in, device float* out, Place at, float omega) {
    const uint n = at.nx * at.ny;
    uint k = 0;
    const float f[] = {in[n * k++ + at.upstream<L>()]...};
    float rho = 0, mx = 0, my = 0;
    k = 0;
    ((rho += f[k], mx += L::x * f[k], my += L::y * f[k], ++k), ...);
    const float2 u = float2(mx, my) / rho;
    k = 0;
    ((out[n * k + at.y * at.nx + at.x] = f[k] + omega * (L::equilibrium(rho, u) - f[k]), ++k), ...);
}
}  // namespace lattice

kernel void lbm_step(device const float* f_in [[buffer(0)]],
                     device float* f_out [[buffer(1)]],
                     constant uint& NX [[buffer(2)]],
                     constant uint& NY [[buffer(3)]],
                     constant float& tau [[buffer(4)]],
                     uint2 gid [[thread_position_in_grid]]) {
    using namespace lattice;
    if (gid.x >= NX || gid.y >= NY) return;
    step<Link<0, 0>, Link<1, 0>, Link<0, 1>, Link<-1, 0>, Link<0, -1>, Link<1, 1>, Link<-1, 1>, Link<-1, -1>, Link<1, -1>>(
        f_in, f_out, Place{gid.x, gid.y, NX, NY}, 1.0f / tau);
}
