// Every mix of scalars and vectors whose components add up.
constexpr float2 xy(1, 2);
constexpr float3 xyz(1, 2, 3);
constexpr float4 wanted(1, 2, 3, 4);
static_assert(all(float4(xyz, 4) == wanted));
static_assert(all(float4(1, float3(2, 3, 4)) == wanted));
static_assert(all(float4(xy, float2(3, 4)) == wanted));
static_assert(all(float4(xy, 3, 4) == wanted));
static_assert(all(float4(1, float2(2, 3), 4) == wanted));
static_assert(all(float4(1, 2, float2(3, 4)) == wanted));
static_assert(all(float3(xy, 3) == xyz));
static_assert(all(float3(1, float2(2, 3)) == xyz));
static_assert(all(float4(7) == float4(7, 7, 7, 7)));
static_assert(all(float2() == float2(0)) && all(int3{} == 0));
static_assert(all(float2{1, 2} == xy));
static_assert(all(int3(1, 2u, 3.9f) == int3(1, 2, 3)));
static_assert(all(bool2(2, 0.0f) == bool2(true, false)));
static_assert(all(half3(half2(1), 2.0h).zyx == half3(2, 1, 1)));
static_assert(all(uchar4(short3(258, 2, 3).x, 0, 1, 2) == uchar4(2, 0, 1, 2)));

// Conversions of the elements are explicit, and boolean vectors convert as 0 and 1.
static_assert(all(int4(float4(1.9f, -1.9f, 2, 3)) == int4(1, -1, 2, 3)));
static_assert(all(float2(bool2(true, false)) == float2(1, 0)));
static_assert(all(bool3(float3(0, -2, 0.5f)) == bool3(false, true, true)));
static_assert(all(static_cast<uint2>(int2(-1)) == uint2(0xffffffffu)));
static_assert(all((half2)float2(0.5f) == half2(0.5h)));
static_assert(all(long2(uint2(0xffffffffu)) == long2(4294967295l)));
static_assert(!is_convertible<int3, float3>::value && !is_convertible<float3, float4>::value);
static_assert(!is_convertible<float2, half2>::value && is_convertible<float, float4>::value);
static_assert(is_constructible<float3, int3>::value && !is_constructible<float4, float2>::value);
static_assert(!is_constructible<float4, float2, float>::value && !is_constructible<float3, float, float>::value);
static_assert(!is_constructible<float3, half2, float>::value);

void contexts(device float4* out, constant float3& c, threadgroup int2* shared) {
    float4 a = 1, b = {1, 2, 3, 4}, d{xyz, 4}, e(xy, xy);
    float4 f[2] = {float4(1), {1, 2, 3, 4}};
    struct { float2 p; float s; } pair = {{1, 2}, 3}, other = {float2(1), 2};
    out[0] = a + b + d + e + f[1];
    out[1] = float4(c, pair.s + other.p.x);
    shared[0] = {1, 2};
    shared[1] = 3;
    vec<float, 4> named = out[2];
    metal::float3 qualified = metal::float3(c);
    thread float4& reference = named;
    reference = float4(qualified, 1);
    out[3] = *&named;
}
constexpr constant float2 table[3] = {float2(1, 2), {3, 4}, 5};
static_assert(table[1].y == 4 && table[2].x == 5);
