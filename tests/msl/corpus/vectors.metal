//# accept construction
kernel void f(device float4* o) {
    float2 a(1, 2); uint3 b(1, 2, 3); float4 c = float4(a, 3, 4); float4 d{1, 2, 3, 4}; float3 e = float3(a, 1.0f); float4 g = {1, 2, 3, 4};
    float4 h = float4(e, 1), i = float4(1, e), j = float4(a, a), k = float4(1, a, 2), l = 5.0f, m = float4(int4(1, 2, 3, 4));
    half4 n = half4(c); int4 p = int4(c); bool4 q = bool4(true, false, true, true); uchar4 r = uchar4(1); float3 s = 0; float3 t(0.0f);
    float4 u = float4(b.x, b.y, b.z, 1); ulong2 v = ulong2(1ul, 2ul); long4 w = long4(p); short3 x = short3(b); float2 y = float2(b.xy);
    o[0] = c + d + g + h + i + j + k + l + m + float4(n) + float4(p) + float4(q) + float4(r) + s.xyzz + t.xxxx + u + float2(v).xyxy + float4(w) + float3(x).xyzx + y.xxyy + float3(b).xyzz;
}
//# accept swizzles
kernel void f(device float4* o, device float3* p) {
    float4 v = o[0]; v.xy = v.yx; v.xyz += float3(1); v.rgba = v.bgra; v.w = v.x; v.xz *= 2.0f; v.zyx = p[0]; o[1].xw = v.zz; o[2].xyz = v.wzy; v = v.xxxx; p[1].yz -= v.xy;
    float3 rgb = v.rgb; rgb.r = 1; rgb.gb = float2(2, 3); v[2] = v[1]; uint i = 3; v[i] = o[0][i & 1]; o[3] = float4(rgb, v.a); v.x++; --v.y; o[0].x += 1; o[0].y--;
}
//# accept arithmetic of vectors and scalars
kernel void f(device float4* o, device int4* q, device uint2* u) {
    float4 a = o[0], b = o[1]; o[2] = a + b * 2.0f - 3 / b + -a; o[3] = 1.0f - a; a += 1; a *= b; a /= 2.0f; a -= b;
    int4 i = q[0]; i = (i << 2) | (i >> 1) & ~i ^ 7; i %= 3; i <<= 1; q[1] = i + (i * 2 - 1); uint2 w = u[0]; w = w & 0xffu; w ^= w << 3u; w |= 1; u[1] = w >> uint2(1, 2); u[2] = min(w, 3u);
    half2 h = half2(1.0h, 2.0h) * 0.5h; o[4] = a * float(h.x); o[5] = float4(i) * b;
}
//# accept comparisons and boolean vectors
kernel void f(device float4* o, device bool* flags) {
    float4 a = o[0], b = o[1]; bool4 m = a < b; bool4 n = (a == b) || (a >= 0.0f); m = m && !n; flags[0] = any(m); flags[1] = all(a != b); flags[2] = m.x || n[1];
    o[2] = select(a, b, m); o[3] = select(a, b, a > b); bool2 t = m.xy; flags[3] = all(t); o[4] = float4(m); bool3 k = isnan(a.xyz); flags[4] = any(k); o[5] = select(0.0f, 1.0f, flags[0]); bool4 eq = m == n; flags[5] = eq.w; int4 c = int4(m); o[6] = float4(c);
}
//# accept constexpr vectors
constant constexpr float2 kA = float2(1, 2);
constant float3 kB[2] = {float3(1, 2, 3), float3(4)};
constexpr float2 twice(float2 v) { return v + v; }
constant constexpr float2 kC = twice(kA);
static_assert(kA.x == 1.0f, "component");
kernel void f(device float2* o) { constexpr float2 l = float2(1, 2) * 3.0f; constexpr int2 d[3] = {int2(0, 1), int2(1), {2, 3}}; o[0] = l + kC + kB[1].xy + float2(d[2]); }
//# accept matrices
kernel void f(device float4* o, device float4x4* m, constant float3x3& c) {
    float4x4 a = m[0]; float4x4 b = float4x4(1.0f); float2x2 r = float2x2(1, 2, 3, 4); float3x3 t = float3x3(float3(1), float3(2), float3(3)); float2x3 s(float3(1), float3(2));
    a = a * b; a += b; a[1] = float4(2); a[2][3] = 1; a[0].xy = float2(1); o[0] = a * o[1]; o[1] = o[2] * a; m[1] = transpose(a) * 2.0f; o[3] = float4(c * t[0], determinant(r)); o[4] = float4(s * float2(1, 2), 0); half4x4 h = half4x4(a); o[5] = float4(h[0]);
}
//# accept packed types
struct V { packed_float3 p; float w; packed_half2 h; packed_uchar4 c; };
static_assert(sizeof(packed_float3) == 12 && sizeof(float3) == 16 && alignof(packed_float4) == 4, "packed");
kernel void f(device V* v, device packed_float4* q, device packed_char4* b) {
    float3 p = v[0].p; v[1].p = p * 2; v[0].p.x = 1; v[2].p = packed_float3(1, 2, 3); float3 s = v[0].p + v[1].p; q[0] = float4(s, v[0].w); q[1][2] = q[0].x; float4 t = float4(q[0]); q[2] = packed_float4(t); int4 i = int4(char4(b[0])); b[1] = packed_char4(char4(i)); half2 h = v[0].h; v[1].h = h; uchar4 c = v[0].c; v[1].c = c.wzyx; v[3].p += p; v[0].w = dot(float3(v[0].p), p) + length(float3(v[1].p));
}
//# accept conversions and as_type
kernel void f(device uint* u, device float* o, device half* h, device uchar4* c) {
    o[0] = as_type<float>(u[0]); u[1] = as_type<uint>(o[1]); uint2 p = as_type<uint2>(float2(1, 2)); half2 q = as_type<half2>(u[2]); u[3] = as_type<uint>(c[0]); ulong l = as_type<ulong>(p); u[4] = uint(l >> 32) + uint(o[2]) + (uint)o[3]; h[0] = half(o[0]) + q.x; short s = short(o[0]); char b = char(s); bool t = bool(b); u[5] = t; int4 i4 = int4(float4(1.5f)); u[6] = uint(i4.x); o[4] = float(h[0]) + float(-1); bfloat bf = bfloat(o[0]); o[5] = float(bf);
}
//# refuse a component that is not there @ 1
kernel void f(device float2* o) { o[0].z = 1; }
//# refuse mixed swizzle sets @ 1
kernel void f(device float4* o) { o[0] = o[1].xgba; }
//# refuse too many components @ 1
kernel void f(device float4* o) { o[0] = float4(1, 2, 3, 4, 5); }
//# refuse int vector for float vector @ 2
float g(float4 v) { return v.x; }
kernel void f(device float* o, device int4* i) { float4 v = i[0]; o[0] = g(v); }
//# accept an if over a vector's component only
kernel void f(device float4* o) { if (o[0].x) o[1] = 1; while (any(o[0] > 3)) o[0] -= 1; }
//# refuse an if over a vector @ 1
kernel void f(device float4* o) { if (o[0] > o[1]) o[1] = 1; }
