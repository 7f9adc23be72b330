#include <metal_stdlib>
using namespace metal;

kernel void bitonic(device uint* keys [[buffer(0)]], constant uint& k [[buffer(1)]], constant uint& j [[buffer(2)]],
                    uint i [[thread_position_in_grid]]) {
    uint partner = i ^ j;
    if (partner > i) {
        const bool ascending = (i & k) == 0;
        const uint a = keys[i], b = keys[partner];
        if ((a > b) == ascending) {
            keys[i] = b;
            keys[partner] = a;
        }
    }
}

kernel void radix_count(device const uint* keys [[buffer(0)]], device uint* counts [[buffer(1)]], constant uint& shift [[buffer(2)]],
                        constant uint& n [[buffer(3)]], uint gid [[thread_position_in_grid]], uint lid [[thread_position_in_threadgroup]],
                        uint tg [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]]) {
    threadgroup atomic_uint buckets[16];
    if (lid < 16) atomic_store_explicit(&buckets[lid], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (gid < n) {
        const uint digit = extract_bits(keys[gid], shift, 4);
        atomic_fetch_add_explicit(&buckets[digit], 1, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lid < 16) counts[lid * groups + tg] = atomic_load_explicit(&buckets[lid], memory_order_relaxed);
}

static inline ulong morton3(uint3 p) {
    ulong r = 0;
    for (uint b = 0; b < 21; ++b) {
        r |= (ulong((p.x >> b) & 1u) << (3 * b)) | (ulong((p.y >> b) & 1u) << (3 * b + 1)) | (ulong((p.z >> b) & 1u) << (3 * b + 2));
    }
    return r;
}
kernel void morton_keys(device const packed_float3* points [[buffer(0)]], device ulong* keys [[buffer(1)]], constant float3& lo [[buffer(2)]],
                        constant float3& inv [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    float3 unit = saturate((float3(points[i]) - lo) * inv);
    keys[i] = morton3(uint3(unit * 2097151.0f));
}
