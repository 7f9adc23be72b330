#define SIZES(T, bytes) \
    static_assert(sizeof(T) == bytes && sizeof(T##2) == 2 * bytes && sizeof(T##3) == 4 * bytes && sizeof(T##4) == 4 * bytes); \
    static_assert(alignof(T) == bytes && alignof(T##2) == 2 * bytes && alignof(T##3) == 4 * bytes && alignof(T##4) == 4 * bytes); \
    static_assert(sizeof(packed_##T##2) == 2 * bytes && sizeof(packed_##T##3) == 3 * bytes && sizeof(packed_##T##4) == 4 * bytes); \
    static_assert(alignof(packed_##T##3) == bytes && alignof(packed_##T##4) == bytes); \
    static_assert(is_trivially_copyable<T##3>::value && is_trivially_copyable<packed_##T##3>::value); \
    static_assert(is_same<vec<T, 3>, T##3>::value && is_same<packed_vec<T, 3>, packed_##T##3>::value);
SIZES(bool, 1)
SIZES(char, 1)
SIZES(uchar, 1)
SIZES(short, 2)
SIZES(ushort, 2)
SIZES(half, 2)
SIZES(bfloat, 2)
SIZES(int, 4)
SIZES(uint, 4)
SIZES(float, 4)
SIZES(long, 8)
SIZES(ulong, 8)
static_assert(sizeof(size_t) == 8 && sizeof(ptrdiff_t) == 8 && sizeof(int8_t) == 1 && sizeof(uint64_t) == 8);
static_assert(is_same<int8_t, char>::value && is_same<uint32_t, uint>::value && is_same<int64_t, long>::value);
static_assert(sizeof(float4x4) == 64 && sizeof(float3x3) == 48 && sizeof(float2x3) == 32 && sizeof(half2x4) == 16);
static_assert(alignof(float3x3) == 16 && alignof(half4x2) == 4);

struct Mixed {
    float3 a;
    float b;
    packed_float3 c;
    float d;
    float2 e;
    bool f;
    half3 g;
};
static_assert(sizeof(Mixed) == 64);
static_assert(__builtin_offsetof(Mixed, b) == 16 && __builtin_offsetof(Mixed, c) == 20 && __builtin_offsetof(Mixed, d) == 32);
static_assert(__builtin_offsetof(Mixed, e) == 40 && __builtin_offsetof(Mixed, f) == 48 && __builtin_offsetof(Mixed, g) == 56);
union Overlaid {
    float4 v;
    float f[4];
};
static_assert(sizeof(Overlaid) == 16);
