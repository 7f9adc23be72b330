// right
// N = 8 M: an eight-point transform in the registers of every M-th thread, then M-point sums with a twiddle table.
#include <metal_stdlib>
using namespace metal;

inline float2 mul(float2 a, float2 b) { return float2(a.x * b.x - a.y * b.y, dot(a, b.yx)); }

inline void fft8(thread float2* v) {
    const float h = M_SQRT1_2_F;
    const float2 a0 = v[0] + v[4], a1 = v[0] - v[4], a2 = v[2] + v[6], a3 = v[2] - v[6];
    const float2 b0 = v[1] + v[5], b1 = v[1] - v[5], b2 = v[3] + v[7], b3 = v[3] - v[7];
    const float2 c0 = a0 + a2, c2 = a0 - a2, c1 = a1 + float2(a3.y, -a3.x), c3 = a1 - float2(a3.y, -a3.x);
    const float2 d0 = b0 + b2, d2 = b0 - b2, d1 = b1 + float2(b3.y, -b3.x), d3 = b1 - float2(b3.y, -b3.x);
    const float2 e1 = h * float2(d1.x + d1.y, d1.y - d1.x), e2 = float2(d2.y, -d2.x), e3 = h * float2(d3.y - d3.x, -d3.x - d3.y);
    v[0] = c0 + d0; v[4] = c0 - d0;
    v[1] = c1 + e1; v[5] = c1 - e1;
    v[2] = c2 + e2; v[6] = c2 - e2;
    v[3] = c3 + e3; v[7] = c3 - e3;
}

// Input index 8's complement: n = m + M r, output k = 8 q + s.
inline float2 transform(float2 x, uint t, uint n, threadgroup float2* line, threadgroup float2* table) {
    const float angle = -2.0f * M_PI_F * float(t) / float(n);
    table[t] = float2(cos(angle), sin(angle));
    line[t] = x;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint m_count = n / 8;
    if (t < m_count) {
        float2 v[8];
        #pragma unroll
        for (uint r = 0; r < 8; ++r) v[r] = line[t + m_count * r];
        fft8(v);
        #pragma unroll
        for (uint s = 0; s < 8; ++s) line[t + m_count * s] = mul(v[s], table[t * s]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint s = t & 7u, q = t >> 3;
    float2 sum = 0.0f;
    for (uint m = 0; m < m_count; ++m) sum += mul(line[m + m_count * s], table[(8u * q * m) & (n - 1)]);
    return sum;
}
#define AXIS(name, element, point)                                                                    \
     kernel void name(device const float2* in_data [[buffer(0)]],                                   \
                        device float2* out_data [[buffer(1)]],                                        \
                        constant uint& N [[buffer(2)]],                                               \
                        uint3 gid [[thread_position_in_grid]]) {                                      \
        threadgroup float2 line[256], table[256]; const float2 x = in_data[point]; out_data[point] = transform(x, element, N, line, table);                                                                                            \
    }
AXIS(fft3d_x, gid.x, gid.y * N + gid.x)
AXIS(fft3d_y, gid.x, ((gid.y / N) * N + gid.x) * N + gid.y % N)
AXIS(fft3d_z, gid.x, (gid.x * N + gid.y / N) * N + gid.y % N)
