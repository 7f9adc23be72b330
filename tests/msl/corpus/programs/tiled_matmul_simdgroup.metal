#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

constant constexpr uint TILE_M = 32;
constant constexpr uint TILE_N = 32;
constant constexpr uint TILE_K = 16;

struct MatmulParams {
    uint M;
    uint N;
    uint K;
    float alpha;
};

kernel void matmul_simdgroup(device const float* A [[buffer(0)]],
                             device const float* B [[buffer(1)]],
                             device float* C [[buffer(2)]],
                             constant MatmulParams& params [[buffer(3)]],
                             uint2 tgid [[threadgroup_position_in_grid]],
                             uint sgid [[simdgroup_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]]) {
    simdgroup_float8x8 acc[2][2];
    for (uint i = 0; i < 2; ++i) {
        for (uint j = 0; j < 2; ++j) {
            acc[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
    }
    const uint row = tgid.y * TILE_M + (sgid / 2) * 16;
    const uint col = tgid.x * TILE_N + (sgid % 2) * 16;
    for (uint k = 0; k < params.K; k += 8) {
        simdgroup_float8x8 a[2], b[2];
        for (ushort i = 0; i < 2; ++i) {
            simdgroup_load(a[i], A + (row + i * 8) * params.K + k, params.K);
            simdgroup_load(b[i], B + k * params.N + col + i * 8, params.N);
        }
        for (ushort i = 0; i < 2; ++i)
            for (ushort j = 0; j < 2; ++j)
                simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }
    for (ushort i = 0; i < 2; ++i)
        for (ushort j = 0; j < 2; ++j)
            simdgroup_store(acc[i][j], C + (row + i * 8) * params.N + col + j * 8, params.N);
}

[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_tiled(device const float* A [[buffer(0)]], device const float* B [[buffer(1)]], device float* C [[buffer(2)]],
                         constant uint& M [[buffer(3)]], constant uint& N [[buffer(4)]], constant uint& K [[buffer(5)]],
                         uint2 gid [[thread_position_in_grid]], uint2 lid [[thread_position_in_threadgroup]]) {
    threadgroup float As[TILE_K][TILE_K + 1];
    threadgroup float Bs[TILE_K][TILE_K + 1];
    float sum = 0.0f;
    const uint tiles = (K + TILE_K - 1) / TILE_K;
    for (uint t = 0; t < tiles; ++t) {
        uint ka = t * TILE_K + lid.x;
        uint kb = t * TILE_K + lid.y;
        As[lid.y][lid.x] = (gid.y < M && ka < K) ? A[gid.y * K + ka] : 0.0f;
        Bs[lid.y][lid.x] = (kb < K && gid.x < N) ? B[kb * N + gid.x] : 0.0f;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        #pragma unroll
        for (uint k = 0; k < TILE_K; ++k) {
            sum = fma(As[lid.y][k], Bs[k][lid.x], sum);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (gid.y < M && gid.x < N) C[gid.y * N + gid.x] = sum;
}
