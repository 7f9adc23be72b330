#include <metal_stdlib>
using namespace metal;

struct SimParams {
    uint n;
    float dt;
    float softening;
    float damping;
};

constant constexpr ushort kTile = 128;

static inline float3 interact(float3 acc, const float4 pi, const float4 pj, const float eps2) {
    float3 r = pj.xyz - pi.xyz;
    float d2 = dot(r, r) + eps2;
    float inv = rsqrt(d2);
    float inv3 = inv * inv * inv;
    return fma(r, float3(pj.w * inv3), acc);
}

kernel void nbody_step(const device float4* posIn [[buffer(0)]], device float4* posOut [[buffer(1)]],
                       const device packed_float3* velIn [[buffer(2)]], device packed_float3* velOut [[buffer(3)]],
                       constant SimParams& p [[buffer(4)]], ushort lid [[thread_position_in_threadgroup]],
                       uint gid [[thread_position_in_grid]], uint tpg [[threads_per_threadgroup]]) {
    threadgroup float4 tile[kTile];
    float4 me = gid < p.n ? posIn[gid] : float4(0.0f);
    float3 acc = 0.0f;
    const float eps2 = p.softening * p.softening;
    for (uint base = 0; base < p.n; base += kTile) {
        uint j = base + lid;
        tile[lid] = (j < p.n) ? posIn[j] : float4(0);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const uint limit = min(uint(kTile), p.n - base);
        uint k = 0;
        for (; k + 4 <= limit; k += 4) {
            acc = interact(acc, me, tile[k], eps2);
            acc = interact(acc, me, tile[k + 1], eps2);
            acc = interact(acc, me, tile[k + 2], eps2);
            acc = interact(acc, me, tile[k + 3], eps2);
        }
        for (; k < limit; ++k) acc = interact(acc, me, tile[k], eps2);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (gid >= p.n) return;
    float3 v = float3(velIn[gid]);
    v = (v + acc * p.dt) * p.damping;
    velOut[gid] = packed_float3(v);
    me.xyz += v * p.dt;
    posOut[gid] = me;
    (void)tpg;
}
