static_assert(abs(-5) == 5 && abs(char(-5)) == 5 && absdiff(-2147483647, 2147483647) == 4294967294u && absdiff(uchar(3), uchar(5)) == 2);
static_assert(is_same<decltype(absdiff(1, 2)), uint>::value && is_same<decltype(absdiff(short2(1), short2(2))), ushort2>::value);
static_assert(is_same<decltype(min(uchar(1), uchar(2))), uchar>::value && is_same<decltype(clz(ushort(1))), ushort>::value);
static_assert(clz(0u) == 32 && ctz(0ul) == 64 && clz(uchar(1)) == 7 && popcount(short(-1)) == 16 && reverse_bits(uchar(1)) == 128);
static_assert(max3(1, 5, 3) == 5 && min3(2u, 1u, 3u) == 1 && median3(9, 1, 5) == 5 && clamp(7, 0, 5) == 5);
static_assert(mul24(-3, 5) == -15 && mad24(3u, 5u, 7u) == 22 && rotate(0x80000001u, 1u) == 3 && rotate(uchar(0x81), uchar(4)) == 0x18);
static_assert(extract_bits(0xabcd, 4, 8) == int(0xffffffbc) && extract_bits(0xabcdu, 4, 8) == 0xbc && extract_bits(1u, 3, 0) == 0);
static_assert(insert_bits(0u, 0xffu, 4, 8) == 0xff0u && insert_bits(~0u, 0u, 0, 32) == 0 && insert_bits(5, 7, 3, 0) == 5);
static_assert(all(max(int2(1, 5), 3) == int2(3, 5)) && all(clamp(int3(-1, 5, 9), 0, 6) == int3(0, 5, 6)) && all(min(5u, uint2(3, 7)) == uint2(3, 5)));
static_assert(all(popcount(uchar3(3, 7, 255)) == uchar3(2, 3, 8)) && all(extract_bits(uint2(0xff0, 0xabc), 4, 8) == uint2(0xff, 0xab)));
static_assert(all(max(packed_int3(1, 2, 3), int3(2)) == int3(2, 2, 3)));

static_assert(isnan(NAN) && !isnan(INFINITY) && isinf(-INFINITY) && isfinite(FLT_MAX) && !isfinite(NAN) && signbit(-0.0f) && !signbit(0.0h));
static_assert(isnormal(FLT_MIN) && !isnormal(0.5f * FLT_MIN) && !isnormal(0.0f) && isnan((half)NAN) && isinf((bfloat)INFINITY));
static_assert(isordered(1.0f, 2.0f) && isunordered(1.0f, NAN) && all(isunordered(float2(1, NAN), float2(NAN, 1))));
static_assert(all(isnan(float3(1, NAN, 2)) == bool3(false, true, false)) && any(signbit(half2(1, -1))));
static_assert(any(bool3(false, false, true)) && !all(bool3(true, false, true)) && all(true) && !any(false));
static_assert(select(1, 2, true) == 2 && select(1.0h, 2.0h, false) == 1.0h && select(uchar(1), uchar(2), true) == 2);
static_assert(all(select(float3(1, 2, 3), float3(4, 5, 6), bool3(true, false, true)) == float3(4, 2, 6)));
static_assert(all(select(int2(1), 9, int2(0, 1) > 0) == int2(1, 9)) && all(select(0.0f, float2(1), true) == float2(1)));

static_assert(clamp(5.0f, 0.0f, 1.0f) == 1 && all(clamp(float2(-1, 0.5f), 0, 1) == float2(0, 0.5f)) && saturate(-1.0h) == 0);
static_assert(mix(1.0f, 3.0f, 0.25f) == 1.5f && all(mix(float2(0), float2(4), float2(0, 1)) == float2(0, 4)) && all(mix(float2(0), 4, 0.5f) == 2));
static_assert(step(1.0f, 0.5f) == 0 && step(1.0f, 1.0f) == 1 && smoothstep(0.0f, 2.0f, 1.0f) == 0.5f && smoothstep(0.0f, 1.0f, 7.0f) == 1);
static_assert(sign(-3.0f) == -1 && sign(0.0f) == 0 && sign(NAN) == 0 && signbit(sign(-0.0f)) && all(sign(half2(2, -2)) == half2(1, -1)));

static_assert(dot(float3(1, 2, 3), float3(4, 5, 6)) == 32 && dot(half2(1, 2), half2(3)) == 9 && length_squared(float2(3, 4)) == 25);
static_assert(all(cross(float3(1, 0, 0), float3(0, 1, 0)) == float3(0, 0, 1)) && distance_squared(float2(1), float2(4, 5)) == 25);
static_assert(all(reflect(float2(1, -1), float2(0, 1)) == float2(1, 1)) && all(faceforward(float2(0, 1), float2(0, 1), float2(0, 1)) == float2(0, -1)));
static_assert(dot(packed_float3(1, 2, 3), float3(1)) == 6 && is_same<decltype(dot(half3(1), half3(1))), half>::value);

constexpr float2x3 m(1, 2, 3, 4, 5, 6);
static_assert(m[1].x == 4 && m[0][2] == 3 && all(m * float2(1, 2) == float3(9, 12, 15)) && all(float3(1) * m == float2(6, 15)));
static_assert(transpose(m) == float3x2(1, 4, 2, 5, 3, 6) && m + m == 2 * m && m - m == float2x3(0, 0, 0, 0, 0, 0) && -m != m);
static_assert(transpose(m) * m == float2x2(14, 32, 32, 77) && float2x2(2) == float2x2(float2(2, 0), float2(0, 2)));
static_assert(determinant(float2x2(1, 2, 3, 4)) == -2 && determinant(float3x3(2, 0, 0, 1, 3, 0, 5, 6, 4)) == 24 && determinant(float4x4(2)) == 16);
static_assert(float2x2({1, 2}, {3, 4}) == float2x2(1, 2, 3, 4) && float2x2(float2(1, 2), 3)[1].y == 3);
constexpr float3x2 braced = {{1, 2}, float2(3, 4), {5, 6}};
static_assert(braced[2].y == 6 && braced.columns[1].x == 3);
static_assert(half2x2(float2x2(1, 2, 3, 4))[1].y == 4.0h);
void matrices(device float4x4* d, constant float3x3& c, threadgroup half2x2& t) {
    float4x4 own = d[0];
    own[1][2] = 3;
    own[3].xy = float2(1);
    own *= 2.0f;
    own += d[1];
    own *= d[2];
    device float4& column = d[0][2];
    column = own * column;
    d[3] = {column, column, column, column};
    t[0] = half2(float2(c[1].x));
}
