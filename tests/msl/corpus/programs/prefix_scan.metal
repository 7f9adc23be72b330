#include <metal_stdlib>
using namespace metal;

kernel void scan_block(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]], device uint* sums [[buffer(2)]],
                       constant uint& n [[buffer(3)]], uint gid [[thread_position_in_grid]],
                       uint lid [[thread_position_in_threadgroup]], uint bid [[threadgroup_position_in_grid]],
                       ushort lane [[thread_index_in_simdgroup]], ushort sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint partial[32];
    uint value = gid < n ? in[gid] : 0u;
    uint inclusive = simd_prefix_inclusive_sum(value);
    if (lane == 31) partial[sg] = inclusive;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (sg == 0) partial[lane] = simd_prefix_exclusive_sum(partial[lane]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint result = inclusive - value + partial[sg];
    if (gid < n) out[gid] = result;
    if (lid == 1023) sums[bid] = result + value;
}

kernel void scan_hillis(device int* data [[buffer(0)]], uint lid [[thread_position_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
    threadgroup int ping[1024], pong[1024];
    ping[lid] = data[lid];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    threadgroup int* src = ping;
    threadgroup int* dst = pong;
    for (uint offset = 1; offset < size; offset *= 2) {
        dst[lid] = lid >= offset ? src[lid] + src[lid - offset] : src[lid];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        threadgroup int* tmp = src;
        src = dst;
        dst = tmp;
    }
    data[lid] = src[lid];
}

kernel void compact(device const float* in [[buffer(0)]], device float* out [[buffer(1)]], device atomic_uint& counter [[buffer(2)]],
                    constant float& threshold [[buffer(3)]], uint gid [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    const float v = in[gid];
    const bool keep = v > threshold;
    simd_vote vote = simd_ballot(keep);
    const ulong mask = (simd_vote::vote_t)vote;
    const uint total = popcount(uint(mask));
    const uint rank = popcount(uint(mask) & ((1u << lane) - 1u));
    uint base = 0;
    if (simd_is_first()) base = atomic_fetch_add_explicit(&counter, total, memory_order_relaxed);
    base = simd_broadcast_first(base);
    if (keep) out[base + rank] = v;
}
