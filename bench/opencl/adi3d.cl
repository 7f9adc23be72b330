// Alternating direction implicit diffusion by the Thomas algorithm: shaders/sci/adi3d.metal in OpenCL C.
#define MAX_LENGTH 512

// Solves the line of `length` cells that starts at `first` with the given stride; its ends keep their values.
static void solve_line(global const float* u_in, global float* u_out, uint first, uint stride, uint length, float mu) {
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

static void copy_line(global const float* u_in, global float* u_out, uint first, uint stride, uint length) {
    for (uint m = 0; m < length; ++m) {
        u_out[first + m * stride] = u_in[first + m * stride];
    }
}

static bool on_face(uint x, uint y, uint width, uint height) {
    return x == 0 || y == 0 || x == width - 1 || y == height - 1;
}

kernel void adi_x(global const float* u_in, global float* u_out, uint NX, uint NY, uint NZ, float mu) {
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    if (x >= NY || y >= NZ) return;
    uint first = (y * NY + x) * NX;
    if (on_face(x, y, NY, NZ)) {
        copy_line(u_in, u_out, first, 1, NX);
    } else {
        solve_line(u_in, u_out, first, 1, NX, mu);
    }
}

kernel void adi_y(global const float* u_in, global float* u_out, uint NX, uint NY, uint NZ, float mu) {
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    if (x >= NX || y >= NZ) return;
    uint first = y * NY * NX + x;
    if (on_face(x, y, NX, NZ)) {
        copy_line(u_in, u_out, first, NX, NY);
    } else {
        solve_line(u_in, u_out, first, NX, NY, mu);
    }
}

kernel void adi_z(global const float* u_in, global float* u_out, uint NX, uint NY, uint NZ, float mu) {
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    if (x >= NX || y >= NY) return;
    uint first = y * NX + x;
    if (on_face(x, y, NX, NY)) {
        copy_line(u_in, u_out, first, NX * NY, NZ);
    } else {
        solve_line(u_in, u_out, first, NX * NY, NZ, mu);
    }
}
