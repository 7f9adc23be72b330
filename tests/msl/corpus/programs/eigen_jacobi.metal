#include <metal_stdlib>
using namespace metal;

template <uint N>
struct Symmetric {
    float a[N][N];
    void load(const device float* src) {
        for (uint r = 0; r < N; ++r)
            for (uint c = 0; c < N; ++c) a[r][c] = src[r * N + c];
    }
};

template <uint N>
inline void rotate_pair(thread Symmetric<N>& m, uint p, uint q) {
    float apq = m.a[p][q];
    if (fabs(apq) < 1e-12f) return;
    float theta = (m.a[q][q] - m.a[p][p]) / (2.0f * apq);
    float t = copysign(1.0f, theta) / (abs(theta) + sqrt(1.0f + theta * theta));
    float c = rsqrt(1.0f + t * t), s = t * c;
    for (uint k = 0; k < N; ++k) {
        float akp = m.a[k][p], akq = m.a[k][q];
        m.a[k][p] = c * akp - s * akq;
        m.a[k][q] = s * akp + c * akq;
    }
    for (uint k = 0; k < N; ++k) {
        float apk = m.a[p][k], aqk = m.a[q][k];
        m.a[p][k] = c * apk - s * aqk;
        m.a[q][k] = s * apk + c * aqk;
    }
}

kernel void eigenvalues(const device float* in [[buffer(0)]], device float4* out [[buffer(1)]], uint id [[thread_position_in_grid]]) {
    Symmetric<4> m;
    m.load(in + id * 16);
    for (int sweep = 0; sweep < 8; ++sweep)
        for (uint p = 0; p < 3; ++p)
            for (uint q = p + 1; q < 4; ++q) rotate_pair<4>(m, p, q);
    out[id] = float4(m.a[0][0], m.a[1][1], m.a[2][2], m.a[3][3]);
    float3x3 basis = float3x3(float3(1, 0, 0), float3(0, 1, 0), float3(0, 0, 1));
    float3 v = basis * float3(1.0f, 2.0f, 3.0f);
    out[id].x += determinant(basis) * v.x * 0.0f + transpose(basis)[0][0] * 0.0f;
}
