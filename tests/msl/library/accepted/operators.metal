constexpr int4 a(7, -7, 2, 0), b(2, 2, -3, 1);
static_assert(all(a + b == int4(9, -5, -1, 1)) && all(a - b == int4(5, -9, 5, -1)) && all(a * b == int4(14, -14, -6, 0)));
static_assert(all(a / b == int4(3, -3, 0, 0)) && all(a % b == int4(1, -1, 2, 0)) && all(-a == 0 - a) && all(+a == a));
static_assert(all((a & b) == int4(2, 0, 0, 0)) && all((a | 1) == int4(7, -7, 3, 1)) && all((a ^ a) == 0) && all(~a == -a - 1));
static_assert(all(b.xyw << 1 == int3(4, 4, 2)) && all(a >> uint4(1) == int4(3, -4, 1, 0)) && all(1 << int4(0, 1, 2, 3) == int4(1, 2, 4, 8)));
static_assert(all((a < b) == bool4(false, true, false, true)) && all((a >= 2) == bool4(true, false, true, false)));
static_assert(all((a == 2) == bool4(false, false, true, false)) && any(a != b) && !any(a != a));
static_assert(all((a > 0 && b > 0) == bool4(true, false, false, false)) && all((a && b) == bool4(true, true, true, false)));
static_assert(all((a < 0 || b < 0) == bool4(false, true, true, false)) && all(!a == bool4(false, false, false, true)));
static_assert(all((bool2(true, false) & true) == bool2(true, false)) && all((bool2(true) ^ bool2(true, false)) == bool2(false, true)));
static_assert(is_same<decltype(a < b), bool4>::value && is_same<decltype(float2(1) == 1), bool2>::value);
static_assert(is_same<decltype(half4(1) * 2.0f), half4>::value && is_same<decltype(float3(1) * 2), float3>::value);
static_assert(is_same<decltype(2u * ushort2(1)), ushort2>::value && is_same<decltype(char3(1) + char3(1)), char3>::value);
static_assert(all(uchar2(1) - uchar2(2) == uchar2(255)));
static_assert(all(float2(1, 2) / 4 == float2(0.25f, 0.5f)) && all(1 - float2(1, 2) == float2(0, -1)));
static_assert(all(ulong2(1) << 40 == ulong2(1099511627776ul)) && all(short2(-8) >> 1 == short2(-4)));
static_assert(all(bfloat2(1.5f) * bfloat2(2.0f) == bfloat2(3.0f)) && all(half3(0.5h) + half3(1) == half3(1.5h)));

void assigned(device float4* d, threadgroup uint2* t, thread short3& p, device packed_int3* q) {
    d[0] += d[1];
    d[0] -= 1;
    d[0] *= 2.0f;
    d[0] /= d[1].x;
    t[0] %= 3u;
    t[0] <<= 1;
    t[0] >>= int2(1);
    t[0] &= t[1];
    t[0] |= 1u;
    t[0] ^= t[1].yx;
    ++p;
    p--;
    p = p++ + --p;
    q[0] += int3(1);
    q[0] *= 2;
    q[1] = q[0] + q[1] * 2 - int3(q[2]);
    bool3 m = q[0] < int3(1);
    m &= !m;
    m = m || bool3(true, false, true);
}
