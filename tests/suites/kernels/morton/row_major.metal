// wrong: elements differ
// Treats the array as row-major.
#include <metal_stdlib>
using namespace metal;

kernel void morton_stencil(device const float* u_in [[buffer(0)]],
                           device float* u_out [[buffer(1)]],
                           constant uint& N [[buffer(2)]],
                           constant uint& logN [[buffer(3)]],
                           constant float& alpha [[buffer(4)]],
                           uint tid [[thread_position_in_grid]]) {
    if (tid >= N * N * N) return;
    const uint x = tid % N, y = tid / N % N, z = tid / N / N;
    const float c = u_in[tid];
    if (x == 0 || y == 0 || z == 0 || x == N - 1 || y == N - 1 || z == N - 1) { u_out[tid] = c; return; }
    u_out[tid] = c + alpha * (u_in[tid - 1] + u_in[tid + 1] + u_in[tid - N] + u_in[tid + N] + u_in[tid - N * N] + u_in[tid + N * N] - 6 * c);
}
