#include <metal_stdlib>
using namespace metal;

constant ulong P = 0xFFFFFFFF00000001UL;
constant constexpr uint LOCAL_LOG = 8;
constant constexpr uint LOCAL_N = 1u << LOCAL_LOG;

struct u128 { ulong lo, hi; };

static inline u128 mul_wide(ulong a, ulong b) {
    u128 r;
    r.lo = a * b;
    r.hi = mulhi(a, b);
    return r;
}
static inline ulong reduce(u128 x) {
    const ulong hi_hi = x.hi >> 32;
    const ulong hi_lo = x.hi & 0xFFFFFFFFul;
    ulong t0 = x.lo - hi_hi;
    if (x.lo < hi_hi) t0 -= 0xFFFFFFFFul;
    const ulong t1 = (hi_lo << 32) - hi_lo;
    ulong r = t0 + t1;
    if (r < t1) r += 0xFFFFFFFFul;
    return r >= P ? r - P : r;
}
static inline ulong mulmod(ulong a, ulong b) { return reduce(mul_wide(a, b)); }
static inline ulong addmod(ulong a, ulong b) { ulong s = a + b; return (s < a || s >= P) ? s - P : s; }
static inline ulong submod(ulong a, ulong b) { return a >= b ? a - b : a + (P - b); }

kernel void ntt_local(device ulong* data [[buffer(0)]], device const ulong* roots [[buffer(1)]], constant uint& log_n [[buffer(2)]],
                      uint tid [[thread_position_in_threadgroup]], uint tg [[threadgroup_position_in_grid]]) {
    threadgroup ulong s[LOCAL_N];
    device ulong* block = data + ulong(tg) * LOCAL_N;
    s[tid] = block[tid];
    s[tid + LOCAL_N / 2] = block[tid + LOCAL_N / 2];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint stage = 0; stage < LOCAL_LOG; ++stage) {
        const uint half_size = 1u << stage;
        const uint j = tid & (half_size - 1);
        const uint i = ((tid >> stage) << (stage + 1)) + j;
        const ulong w = roots[j << (log_n - 1 - stage)];
        const ulong u = s[i];
        const ulong v = mulmod(s[i + half_size], w);
        s[i] = addmod(u, v);
        s[i + half_size] = submod(u, v);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    block[tid] = s[tid];
    block[tid + LOCAL_N / 2] = s[tid + LOCAL_N / 2];
}

kernel void bit_reverse(device ulong* data [[buffer(0)]], constant uint& log_n [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    const uint j = reverse_bits(i) >> (32u - log_n);
    if (i < j) {
        ulong t = data[i];
        data[i] = data[j];
        data[j] = t;
    }
}
