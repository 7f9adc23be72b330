// FFT of a cube, a work-group per line, radix-2 stages in local memory: shaders/sci/fft3d.metal in OpenCL C.
#define MAX_N 1024

static float2 multiply(float2 a, float2 b) {
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// OpenCL C has no core function for it.
static uint reverse_bits(uint x) {
    x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
    x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
    x = ((x >> 4) & 0x0F0F0F0Fu) | ((x & 0x0F0F0F0Fu) << 4);
    x = ((x >> 8) & 0x00FF00FFu) | ((x & 0x00FF00FFu) << 8);
    return (x >> 16) | (x << 16);
}

// Leaves element `t` of the transform of `line` in natural order; called by all N work-items of the work-group.
static float2 transform(float2 value, local float2* line, uint t, uint N) {
    uint bits = ctz(N);
    line[reverse_bits(t) >> (32 - bits)] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = 1; half_size < N; half_size *= 2) {
        if (t < N / 2) {
            uint k = t & (half_size - 1);
            uint upper = 2 * (t - k) + k;
            float angle = -M_PI_F * (float)(k) / (float)(half_size);
            float2 a = line[upper];
            float2 b = multiply(line[upper + half_size], (float2)(cos(angle), sin(angle)));
            line[upper] = a + b;
            line[upper + half_size] = a - b;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return line[t];
}

kernel void fft3d_x(global const float2* in_data, global float2* out_data, uint N) {
    local float2 line[MAX_N];
    uint i = get_global_id(0);
    uint k = get_global_id(1) / N;
    uint j = get_global_id(1) - k * N;
    uint point = (k * N + j) * N + i;
    out_data[point] = transform(in_data[point], line, i, N);
}

kernel void fft3d_y(global const float2* in_data, global float2* out_data, uint N) {
    local float2 line[MAX_N];
    uint j = get_global_id(0);
    uint k = get_global_id(1) / N;
    uint i = get_global_id(1) - k * N;
    uint point = (k * N + j) * N + i;
    out_data[point] = transform(in_data[point], line, j, N);
}

kernel void fft3d_z(global const float2* in_data, global float2* out_data, uint N) {
    local float2 line[MAX_N];
    uint k = get_global_id(0);
    uint j = get_global_id(1) / N;
    uint i = get_global_id(1) - j * N;
    uint point = (k * N + j) * N + i;
    out_data[point] = transform(in_data[point], line, k, N);
}
