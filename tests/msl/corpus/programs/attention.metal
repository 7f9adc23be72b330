#include <metal_stdlib>
using namespace metal;

constant bool causal [[function_constant(0)]];
constant int window [[function_constant(1)]];
constant bool use_causal = is_function_constant_defined(causal) ? causal : true;
constant int window_size = is_function_constant_defined(window) ? window : 128;

struct Dims { int heads; int length; int dim; float scale; };

kernel void attention(device const half* q [[buffer(0)]], device const half* k [[buffer(1)]], device const half* v [[buffer(2)]],
                      device half* o [[buffer(3)]], constant Dims& d [[buffer(4)]], threadgroup float* scores [[threadgroup(0)]],
                      uint3 tg [[threadgroup_position_in_grid]], uint3 tid3 [[thread_position_in_threadgroup]],
                      uint3 tpg [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]], uint warp [[simdgroup_index_in_threadgroup]]) {
    threadgroup float red[32];
    const int head = tg.y, row = tg.x, tid = tid3.x, step = tpg.x;
    const device half* qr = q + (head * d.length + row) * d.dim;
    float best = -INFINITY;
    for (int j = tid; j < d.length; j += step) {
        const device half* kr = k + (head * d.length + j) * d.dim;
        float acc = 0;
        for (int i = 0; i < d.dim; i += 4) acc += dot(float4(*(device const half4*)(qr + i)), float4(*(device const half4*)(kr + i)));
        acc = (use_causal && j > row) || row - j > window_size ? -INFINITY : acc * d.scale;
        scores[j] = acc;
        best = fmax(best, acc);
    }
    best = simd_max(best);
    if (lane == 0) red[warp] = best;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    best = simd_max(lane < (step + 31) / 32 ? red[lane] : -INFINITY);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0.f;
    for (int j = tid; j < d.length; j += step) {
        float e = fast::exp(scores[j] - best);
        scores[j] = e;
        sum += e;
    }
    sum = simd_sum(sum);
    if (lane == 0) red[warp] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    sum = simd_sum(lane < (step + 31) / 32 ? red[lane] : 0.f);
    for (int i = tid; i < d.dim; i += step) {
        float acc = 0;
        for (int j = 0; j < d.length; ++j) acc = fma(scores[j], float(v[(head * d.length + j) * d.dim + i]), acc);
        o[(head * d.length + row) * d.dim + i] = half(acc / sum);
    }
}
