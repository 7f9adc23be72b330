#include <metal_stdlib>
using namespace metal;

constant constexpr uint SIMD = 32;

template <typename T> struct SumOp {
    static constexpr constant T identity = T(0);
    T operator()(T a, T b) const { return a + b; }
    static T simd(T v) { return simd_sum(v); }
};
template <typename T> struct MaxOp {
    T operator()(T a, T b) const { return max(a, b); }
    static T simd(T v) { return simd_max(v); }
};

template <typename T, typename Op>
T block_reduce(T v, threadgroup T* scratch, uint lane, uint warp, uint warps) {
    v = Op::simd(v);
    if (lane == 0) scratch[warp] = v;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    T r = lane < warps ? scratch[lane] : scratch[0];
    if (lane >= warps) r = v - v;
    return Op::simd(r);
}

kernel void sum_float(device const float* in [[buffer(0)]], device atomic_float* out [[buffer(1)]], constant uint& n [[buffer(2)]],
                      uint gid [[thread_position_in_grid]], uint grid [[threads_per_grid]], uint lane [[thread_index_in_simdgroup]],
                      uint warp [[simdgroup_index_in_threadgroup]], uint warps [[simdgroups_per_threadgroup]],
                      uint lid [[thread_index_in_threadgroup]]) {
    threadgroup float scratch[SIMD];
    float v = SumOp<float>::identity;
    for (uint i = gid; i < n; i += grid) v += in[i];
    float total = block_reduce<float, SumOp<float>>(v, scratch, lane, warp, warps);
    if (lid == 0) atomic_fetch_add_explicit(out, total, memory_order_relaxed);
}

template <typename T>
[[kernel]] void reduce_max(device const T* in [[buffer(0)]], device T* out [[buffer(1)]], threadgroup T* shared [[threadgroup(0)]],
                           uint lid [[thread_position_in_threadgroup]], uint tg [[threadgroup_position_in_grid]],
                           uint size [[threads_per_threadgroup]]) {
    shared[lid] = in[tg * size + lid];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint stride = size / 2; stride > 0; stride >>= 1) {
        if (lid < stride) shared[lid] = max(shared[lid], shared[lid + stride]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (lid == 0) out[tg] = shared[0];
}
template [[host_name("reduce_max_float")]] [[kernel]] void reduce_max<float>(device const float*, device float*, threadgroup float*, uint, uint, uint);
template [[host_name("reduce_max_int")]] [[kernel]] decltype(reduce_max<int>) reduce_max<int>;

kernel void histogram(device const uchar* data [[buffer(0)]], device atomic_uint* bins [[buffer(1)]], constant uint& n [[buffer(2)]],
                      uint gid [[thread_position_in_grid]], uint lid [[thread_position_in_threadgroup]],
                      uint tgSize [[threads_per_threadgroup]], uint gridSize [[threads_per_grid]]) {
    threadgroup atomic_uint local[256];
    for (uint i = lid; i < 256u; i += tgSize) atomic_store_explicit(&local[i], 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = gid; i < n; i += gridSize) atomic_fetch_add_explicit(&local[data[i]], 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = lid; i < 256u; i += tgSize) {
        uint count = atomic_load_explicit(&local[i], memory_order_relaxed);
        if (count) atomic_fetch_add_explicit(bins + i, count, memory_order_relaxed);
    }
}
