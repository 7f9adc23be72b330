// Functions with an exact or correctly rounded result, the same in every math mode.
#ifndef KFP_MATH_EXACT_H
#define KFP_MATH_EXACT_H

#include "math_fast.h"
#include "math_precise.h"

#pragma float_control(precise, on, push)
#pragma clang fp contract(on)

namespace __kfp {

// C's rules for the arguments where x^y isn't 2^(y * log2(x)); `power` is that of |x|.
KFP_INLINE float power_with_special_cases(float x, float y, float power) {
    const float half_y = 0.5f * y;
    const bool integer = __builtin_elementwise_trunc(y) == y;
    const bool odd = integer && __builtin_elementwise_trunc(half_y) != half_y;
    power = magnitude(x) == 1.0f && !is_nan(y) ? 1.0f : power;
    power = flip_sign(power, sign_bit(x) && odd);
    power = x < 0.0f && x > -infinity && !integer ? not_a_number : power;
    return y == 0.0f || x == 1.0f ? 1.0f : power;
}

namespace fast {
KFP_INLINE float pow(float x, float y) {
    if (__builtin_constant_p(y) && y == 2.0f) return x * x;
    return power_with_special_cases(x, y, power_of_positive(magnitude(x), y));
}
KFP_INLINE float powr(float x, float y) { return x < 0.0f ? not_a_number : power_of_positive(x, y); }
}  // namespace fast

namespace precise {
KFP_INLINE float pow(float x, float y) { return power_with_special_cases(x, y, power_of_positive(magnitude(x), y)); }
KFP_INLINE float powr(float x, float y) { return x < 0.0f ? not_a_number : power_of_positive(x, y); }

// Long division, 32 bits of the quotient at a time.
KFP_INLINE float fmod_by_long_division(float x, float y) {
    const uint x_bits = bits_of(magnitude(x));
    const uint y_bits = bits_of(magnitude(y));
    const int x_exponent = x_bits >> 23 ? int(x_bits >> 23) : 1;
    const int y_exponent = y_bits >> 23 ? int(y_bits >> 23) : 1;
    const ulong divisor = (y_bits & 0x7fffff) | (y_bits >> 23 ? 0x800000 : 0);
    ulong rest = ((x_bits & 0x7fffff) | (x_bits >> 23 ? 0x800000 : 0)) % divisor;
    for (int shift = x_exponent - y_exponent; shift > 0; shift -= 32)
        rest = (rest << (shift < 32 ? shift : 32)) % divisor;
    // rest < 2^24 and the scale are exact as double, and so is their product as float.
    return with_sign(float(double(rest) * power_of_two_double(y_exponent - 150)), x);
}

KFP_INLINE float fmod(float x, float y) {
    const float ax = magnitude(x);
    const float ay = magnitude(y);
    if (ax < infinity && ay > 0.0f && double(ax) >= double(ay) * double(0x1p28L)) return fmod_by_long_division(x, y);
    return fast::fmod(x, y);
}
}  // namespace precise

// Less than 1 also where the subtraction rounds up to it.
KFP_INLINE float fract(float x) {
    const float rest = x - __builtin_elementwise_floor(x);
    return rest > 0x1.fffffep-1f ? 0x1.fffffep-1f : rest;
}

KFP_INLINE half fract(half x) {
    const float rest = float(x) - __builtin_elementwise_floor(float(x));
    return half(rest > 0x1.ffcp-1f ? 0x1.ffcp-1f : rest);
}

KFP_INLINE float modf(float x, __private float& whole) {
    whole = __builtin_elementwise_trunc(x);
    return with_sign(magnitude(x) < infinity ? x - whole : (is_nan(x) ? x : 0.0f), x);
}

KFP_INLINE float fdim(float x, float y) { return x <= y ? 0.0f : x - y; }

KFP_INLINE float frexp(float x, __private int& exponent) {
    const bool tiny = magnitude(x) < 0x1p-126f;
    const uint bits = bits_of(tiny ? x * 0x1p24f : x);
    const bool ordinary = x != 0.0f && magnitude(x) < infinity;
    exponent = ordinary ? int(bits >> 23 & 255) - (tiny ? 150 : 126) : 0;
    return ordinary ? from_bits((bits & 0x807fffff) | 0x3f000000) : x;
}

KFP_INLINE int ilogb(float x) {
    const bool tiny = magnitude(x) < 0x1p-126f;
    const int exponent = int(bits_of(tiny ? x * 0x1p24f : x) >> 23 & 255) - (tiny ? 151 : 127);
    if (is_nan(x)) return 0x7fffffff;
    return x == 0.0f ? -0x7fffffff - 1 : (magnitude(x) < infinity ? exponent : 0x7fffffff);
}

// A double holds every x * 2^n that isn't certain to end as 0 or infinity.
KFP_INLINE float ldexp(float x, int n) {
    const int within = n < -300 ? -300 : (n > 300 ? 300 : n);
    return float(double(x) * power_of_two_double(within));
}

KFP_INLINE float nextafter(float x, float y) {
    if (is_nan(x) || is_nan(y)) return x + y;
    if (x == y) return y;
    if (x == 0.0f) return with_sign(0x1p-149f, y);
    return from_bits(bits_of(x) + ((x < y) == (x > 0.0f) ? 1 : -1));
}

KFP_INLINE half nextafter(half x, half y) {
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    const ushort bits = __builtin_bit_cast(ushort, x);
    const ushort sign = __builtin_bit_cast(ushort, y) & 0x8000;
    if ((bits & 0x7fff) == 0) return __builtin_bit_cast(half, ushort(sign | 1));
    return __builtin_bit_cast(half, ushort(bits + ((x < y) == !(bits & 0x8000) ? 1 : -1)));
}

// Of two values the lesser and the greater; a NaN counts for nothing. The builtin of half would be a library call.
KFP_INLINE float least(float x, float y) { return __builtin_elementwise_min(x, y); }
KFP_INLINE float greatest(float x, float y) { return __builtin_elementwise_max(x, y); }
KFP_INLINE half least(half x, half y) { return y != y || x < y ? x : y; }
KFP_INLINE half greatest(half x, half y) { return y != y || x > y ? x : y; }
template <class T> KFP_INLINE T median(T x, T y, T z) { return greatest(least(x, y), least(greatest(x, y), z)); }

}  // namespace __kfp

#pragma float_control(pop)

#endif
