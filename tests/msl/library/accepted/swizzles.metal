constexpr int4 v(1, 2, 3, 4);
static_assert(v.x == 1 && v.y == 2 && v.z == 3 && v.w == 4 && v.r == 1 && v.g == 2 && v.b == 3 && v.a == 4);
static_assert(all(v.wzyx == int4(4, 3, 2, 1)) && all(v.abgr == v.wzyx) && all(v.xxyy == int4(1, 1, 2, 2)));
static_assert(all(v.zx == int2(3, 1)) && all(v.rgb == int3(1, 2, 3)) && all(v.yyy == int3(2)));
static_assert(all(v.xy.yx.xxxy == int4(2, 2, 2, 1)) && v.wz.y == 3);
static_assert(v[0] == 1 && v[3] == 4);
static_assert(is_same<decltype(v.xy + v.zw), int2>::value);
static_assert(is_same<remove_cv_t<decltype(float3(1).zyx)>, float3>::value);
constexpr bool3 flags(true, false, true);
static_assert(flags.z && !flags.y && all(flags.xz));
constexpr packed_short4 packed(1, 2, 3, 4);
static_assert(packed.w == 4 && all(packed.yx == short2(2, 1)) && packed[2] == 3);

void writes(device float4* d, threadgroup half3* t, thread uint2& p, device packed_float3* q) {
    d[0].x = 1;
    d[0].yz = float2(2, 3);
    d[0].wzyx = d[1];
    d[0].rgb *= 2.0f;
    d[0].a += d[0].r++;
    d[1][2] = 3;
    d[1][p.x & 3] -= d[0][p.y & 3];
    --d[1].w;
    t[0].zx = t[1].xy;
    t[0].b = 1.0h;
    p.yx = p;
    p.x = p.y = 3;
    p.x <<= 2;
    q[0].xy = d[0].xy;
    q[0].z /= 2.0f;
    q[1] = d[2].xyz;
    q[0][1] = 4;
    float s = (d[0] * d[1]).x + float3(1, 2, 3).zxy.x;
    const float4 fixed = d[0];
    d[3] = fixed.xxxx * s + fixed[1];
}
