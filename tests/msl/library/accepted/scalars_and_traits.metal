static_assert(is_same<remove_cv_t<const volatile int>, int>::value);
static_assert(is_same<conditional_t<true, int, float>, int>::value && is_same<enable_if_t<true, half>, half>::value);
static_assert(is_integral<uchar>::value && !is_integral<half>::value && is_floating_point<half>::value && is_floating_point_v<bfloat>);
static_assert(is_signed<char>::value && is_unsigned<ushort>::value && is_same<make_unsigned_t<int>, uint>::value);
static_assert(is_vector<float3>::value && is_vector_v<const packed_int2> && !is_vector<float>::value && is_scalar<half>::value);
static_assert(is_pointer<device int*>::value && is_array<int[3]>::value && rank<int[2][3]>::value == 2 && extent<int[4]>::value == 4);
static_assert(is_base_of<true_type, is_same<int, int>>::value && integral_constant<int, 5>::value == 5 && true_type()());
static_assert(conjunction<true_type, true_type>::value && disjunction<false_type, true_type>::value && negation<false_type>::value);
static_assert(is_convertible<int, float>::value && is_same<decltype(declval<float>()), float&&>::value);

static_assert(numeric_limits<int>::max() == INT_MAX && numeric_limits<int>::min() == INT_MIN && numeric_limits<uint>::max() == UINT_MAX);
static_assert(numeric_limits<char>::lowest() == -128 && numeric_limits<ushort>::digits == 16 && numeric_limits<long>::max() == LONG_MAX);
static_assert(numeric_limits<float>::max() == FLT_MAX && numeric_limits<float>::lowest() == -FLT_MAX && numeric_limits<float>::min() == 0x1p-126f);
static_assert(numeric_limits<float>::epsilon() == FLT_EPSILON && numeric_limits<float>::infinity() == INFINITY && numeric_limits<float>::digits == 24);
static_assert(numeric_limits<half>::max() == 65504.0h && numeric_limits<half>::epsilon() == HALF_EPSILON && HALF_MIN == 0x1p-14h);
static_assert(numeric_limits<float>::quiet_NaN() != numeric_limits<float>::quiet_NaN() && NAN != NAN);
static_assert(CHAR_BIT == 8 && MAXFLOAT == FLT_MAX && HUGE_VALF == INFINITY && ULONG_MAX == ~0ul);
static_assert(M_PI_F == 3.14159274f && M_PI_H > 3.1h && M_SQRT2_F * M_SQRT1_2_F > 0.999999f && M_E_F > 2.718281f);

static_assert(as_type<uint>(1.0f) == 0x3f800000u && as_type<float>(0xc0000000u) == -2.0f && as_type<ushort>(1.0h) == 0x3c00);
static_assert(all(as_type<uint3>(float3(1, 2, -1)) == uint3(0x3f800000u, 0x40000000u, 0xbf800000u)));
static_assert(as_type<uint>(uchar4(1, 2, 3, 4)) == 0x04030201u && all(as_type<half2>(0x3c004000u) == half2(2, 1)));
static_assert(as_type<ulong>(uint2(1, 2)) == 0x200000001ul && as_type<ushort>((bfloat)1.0f) == 0x3f80);
static_assert(metal::as_type<int>(-0.0f) == INT_MIN);

constexpr constant array<int, 3> primes = {2, 3, 5};
static_assert(primes[2] == 5 && primes.size() == 3 && !primes.empty() && primes.front() == 2 && primes.back() == 5);
float arrays(device array<float4, 2>& d, threadgroup array<int, 4>* t, uint i) {
    array<float, 4> own = {1, 2, 3, 4};
    thread float& first = own[0];
    device float4& second = d[1];
    threadgroup int& third = t[0][2];
    first = second.x + third;
    for (float x : own) second += x;
    array<float, 4> copy = own;
    copy.fill(2);
    swap(copy[0], copy[1]);
    d[0] = float4(copy[i], primes[i], own == copy, own.data()[1]);
    return array<float, 2>{1, 2}[1];
}
template <typename T> enable_if_t<is_integral<T>::value, T> half_of(T x) { return x / 2; }
template <typename T> enable_if_t<is_floating_point<T>::value, T> half_of(T x) { return x * T(0.5f); }
float chosen_by_type(int i, half h) { return half_of(i) + half_of(h) + half_of(2.0f); }
