// Alternating direction implicit diffusion: the Thomas algorithm along one line per thread, for each axis a kernel.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MAX_LENGTH = 512;

// Solves the line of `length` cells that starts at `first` with the given stride; its ends keep their values.
static void solve_line(device const float* u_in, device float* u_out, uint first, uint stride, uint length, float mu) {
    float upper[MAX_LENGTH];
    float value = u_in[first];
    upper[0] = 0.0f;
    u_out[first] = value;
    for (uint m = 1; m + 1 < length; ++m) {
        float pivot = 1.0f / (1.0f + 2.0f * mu + mu * upper[m - 1]);
        upper[m] = -mu * pivot;
        value = (u_in[first + m * stride] + mu * value) * pivot;
        u_out[first + m * stride] = value;
    }
    value = u_in[first + (length - 1) * stride];
    u_out[first + (length - 1) * stride] = value;
    for (uint m = length - 2; m > 0; --m) {
        value = u_out[first + m * stride] - upper[m] * value;
        u_out[first + m * stride] = value;
    }
}

static void copy_line(device const float* u_in, device float* u_out, uint first, uint stride, uint length) {
    for (uint m = 0; m < length; ++m) {
        u_out[first + m * stride] = u_in[first + m * stride];
    }
}

static bool on_face(uint2 gid, uint width, uint height) {
    return gid.x == 0 || gid.y == 0 || gid.x == width - 1 || gid.y == height - 1;
}

kernel void adi_x(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NY || gid.y >= NZ) return;
    uint first = (gid.y * NY + gid.x) * NX;
    if (on_face(gid, NY, NZ)) {
        copy_line(u_in, u_out, first, 1, NX);
    } else {
        solve_line(u_in, u_out, first, 1, NX, mu);
    }
}

kernel void adi_y(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NX || gid.y >= NZ) return;
    uint first = gid.y * NY * NX + gid.x;
    if (on_face(gid, NX, NZ)) {
        copy_line(u_in, u_out, first, NX, NY);
    } else {
        solve_line(u_in, u_out, first, NX, NY, mu);
    }
}

kernel void adi_z(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NX || gid.y >= NY) return;
    uint first = gid.y * NX + gid.x;
    if (on_face(gid, NX, NY)) {
        copy_line(u_in, u_out, first, NX * NY, NZ);
    } else {
        solve_line(u_in, u_out, first, NX * NY, NZ, mu);
    }
}
