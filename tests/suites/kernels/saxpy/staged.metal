// right
// Through threadgroup memory, with a barrier before the early return.
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  constant uint& N [[buffer(3)]],
                  uint i [[thread_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]],
                  ushort lane [[thread_index_in_simdgroup]]) {
    threadgroup float tile[256];
    tile[t] = i < N ? x[i] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float from_mirror = tile[t ^ 31u];           // the lane at the other end of the simdgroup
    const float own = simd_shuffle_xor(from_mirror, 31);
    if (i >= N) return;
    y[i] = a * own + y[i];
}
