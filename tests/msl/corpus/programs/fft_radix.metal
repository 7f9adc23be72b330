#include <metal_stdlib>
using namespace metal;

#define FFT_N 1024u
#define THREADS 256u
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define DECLARE_TWIDDLE(n) static inline float2 CAT(twiddle, n)(uint k) { float s, c; s = sincos(-2.0f * M_PI_F * float(k) / float(n), c); return float2(c, s); }

DECLARE_TWIDDLE(8)
DECLARE_TWIDDLE(1024)

static inline float2 cmul(float2 a, float2 b) { return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
inline float2 mul_i(float2 a, bool forward) { return forward ? float2(a.y, -a.x) : float2(-a.y, a.x); }

template <bool Forward>
inline void radix4(thread float2& a, thread float2& b, thread float2& c, thread float2& d) {
    const float2 s0 = a + c, s1 = a - c, s2 = b + d, s3 = mul_i(b - d, Forward);
    a = s0 + s2;
    b = s1 + s3;
    c = s0 - s2;
    d = s1 - s3;
}

inline void radix8(thread float2 (&x)[8]) {
    radix4<true>(x[0], x[2], x[4], x[6]);
    radix4<true>(x[1], x[3], x[5], x[7]);
    constexpr float h = 0.70710678118f;
    const float2 w[4] = {float2(1.0f, 0.0f), float2(h, -h), float2(0.0f, -1.0f), float2(-h, -h)};
    for (int i = 0; i < 4; i++) {
        float2 t = cmul(x[2 * i + 1], w[i]);
        float2 u = x[2 * i];
        x[2 * i] = u + t;
        x[2 * i + 1] = u - t;
    }
}

kernel void fft1024(device const float2* in [[buffer(0)]], device float2* out [[buffer(1)]],
                    uint tid [[thread_index_in_threadgroup]], uint line [[threadgroup_position_in_grid]]) {
    threadgroup float2 buf[FFT_N];
    const device float2* src = in + line * FFT_N;
    float2 r[4];
    for (uint i = 0; i < 4; ++i) r[i] = src[reverse_bits(tid * 4u + i) >> 22];
    radix4<true>(r[0], r[1], r[2], r[3]);
    for (uint i = 0; i < 4; ++i) buf[tid * 4u + i] = r[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint span = 4u; span < FFT_N; span <<= 1) {
        float2 lo[2], hi[2];
        for (uint j = 0; j < 2; j++) {
            uint b = tid + j * THREADS;
            uint k = b & (span - 1u);
            uint i0 = ((b & ~(span - 1u)) << 1) | k;
            float angle = -M_PI_F * float(k) / float(span);
            float2 w = float2(precise::cos(angle), precise::sin(angle));
            float2 t = cmul(buf[i0 + span], w);
            lo[j] = buf[i0] + t;
            hi[j] = buf[i0] - t;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint j = 0; j < 2; j++) {
            uint b = tid + j * THREADS;
            uint k = b & (span - 1u);
            uint i0 = ((b & ~(span - 1u)) << 1) | k;
            buf[i0] = lo[j];
            buf[i0 + span] = hi[j];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint i = tid; i < FFT_N; i += THREADS) out[line * FFT_N + i] = buf[i] + 0.0f * (twiddle8(i) + twiddle1024(i));
}

kernel void fft8(device float2* data [[buffer(0)]], uint gid [[thread_position_in_grid]]) {
    float2 x[8];
    for (int i = 0; i < 8; ++i) x[i] = data[gid * 8 + i];
    radix8(x);
    for (int i = 0; i < 8; ++i) data[gid * 8 + i] = x[i];
}
