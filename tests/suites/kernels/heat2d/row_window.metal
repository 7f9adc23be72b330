// right
// The first row of threads of each threadgroup walks down its column with a sliding window of three rows.
#include <metal_stdlib>
using namespace metal;

struct Window {
    float north, centre, south;
    void advance(float next) thread { north = centre; centre = south; south = next; }
};

kernel void heat_step(device const float* u_in [[buffer(0)]],
                      device float* u_out [[buffer(1)]],
                      constant uint& NX [[buffer(2)]],
                      constant uint& NY [[buffer(3)]],
                      constant float& alpha [[buffer(4)]],
                      uint2 gid [[thread_position_in_grid]],
                      ushort2 tid [[thread_position_in_threadgroup]],
                      ushort2 tgs [[threads_per_threadgroup]]) {
    if (tid.y != 0 || gid.x >= NX) return;
    const uint x = gid.x;
    const uint y0 = gid.y;
    const uint y1 = min(y0 + tgs.y, NY);
    if (y0 >= y1) return;
    Window w{y0 > 0 ? u_in[(y0 - 1) * NX + x] : 0.0f, u_in[y0 * NX + x], y0 + 1 < NY ? u_in[(y0 + 1) * NX + x] : 0.0f};
    const bool side = x == 0 || x == NX - 1;
    for (uint y = y0; y < y1; ++y) {
        const uint row = y * NX;
        if (side || y == 0 || y == NY - 1)
            u_out[row + x] = w.centre;
        else
            u_out[row + x] = w.centre + alpha * (u_in[row + x - 1] + u_in[row + x + 1] + w.north + w.south - 4.0f * w.centre);
        w.advance(y + 2 < NY ? u_in[row + 2 * NX + x] : 0.0f);
    }
}
