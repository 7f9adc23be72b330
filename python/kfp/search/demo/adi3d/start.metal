// Alternating direction implicit diffusion: the Thomas algorithm as textbooks have it, with every coefficient in an array.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MAX_LENGTH = 512;

static void solve_line(device const float* u_in, device float* u_out, uint first, uint stride, uint length, float mu) {
    float diagonal[MAX_LENGTH];
    float upper[MAX_LENGTH];
    float value[MAX_LENGTH];
    uint last = length - 1;
    for (uint m = 0; m < length; ++m) {
        bool at_end = m == 0 || m == last;
        diagonal[m] = at_end ? 1.0f : 1.0f + 2.0f * mu;
        upper[m] = at_end ? 0.0f : -mu;
        value[m] = u_in[first + m * stride];
    }
    for (uint m = 1; m < last; ++m) {
        float factor = -mu / diagonal[m - 1];
        diagonal[m] -= factor * upper[m - 1];
        value[m] -= factor * value[m - 1];
    }
    for (uint m = last - 1; m > 0; --m) {
        value[m] = (value[m] - upper[m] * value[m + 1]) / diagonal[m];
    }
    for (uint m = 0; m < length; ++m) {
        u_out[first + m * stride] = value[m];
    }
}

static void copy_line(device const float* u_in, device float* u_out, uint first, uint stride, uint length) {
    for (uint m = 0; m < length; ++m) {
        u_out[first + m * stride] = u_in[first + m * stride];
    }
}

static void sweep(device const float* u_in, device float* u_out, uint2 line, uint2 lines, uint first, uint stride,
                  uint length, float mu) {
    if (line.x == 0 || line.y == 0 || line.x == lines.x - 1 || line.y == lines.y - 1) {
        copy_line(u_in, u_out, first, stride, length);
    } else {
        solve_line(u_in, u_out, first, stride, length, mu);
    }
}

kernel void adi_x(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NY || gid.y >= NZ) return;
    sweep(u_in, u_out, gid, uint2(NY, NZ), (gid.y * NY + gid.x) * NX, 1, NX, mu);
}

kernel void adi_y(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NX || gid.y >= NZ) return;
    sweep(u_in, u_out, gid, uint2(NX, NZ), gid.y * NY * NX + gid.x, NX, NY, mu);
}

kernel void adi_z(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NX || gid.y >= NY) return;
    sweep(u_in, u_out, gid, uint2(NX, NY), gid.y * NX + gid.x, NX * NY, NZ, mu);
}
