// What the math functions are built from. All of it is straight-line code on scalars, so that a loop over threads
// vectorises; float_control keeps the error-compensating steps from being rearranged under fast math.
#ifndef KFP_MATH_CORE_H
#define KFP_MATH_CORE_H

#include "address_spaces.h"
#include "scalar.h"

#pragma float_control(precise, on, push)
#pragma clang fp contract(on)

namespace __kfp {

KFP_INLINE uint bits_of(float x) { return __builtin_bit_cast(uint, x); }
KFP_INLINE ulong bits_of(double x) { return __builtin_bit_cast(ulong, x); }
KFP_INLINE float from_bits(uint bits) { return __builtin_bit_cast(float, bits); }
KFP_INLINE double from_bits(ulong bits) { return __builtin_bit_cast(double, bits); }

constexpr __constant float infinity = __builtin_huge_valf();
constexpr __constant float not_a_number = __builtin_nanf("");

// `long double` literals are used for double values throughout: the others may be read as float.
template <class T, class C> KFP_INLINE T polynomial(T, C last) { return T(last); }
template <class T, class C, class... More> KFP_INLINE T polynomial(T t, C first, More... more) {
    return polynomial(t, more...) * t + T(first);
}

KFP_INLINE float magnitude(float x) { return __builtin_elementwise_abs(x); }
KFP_INLINE double magnitude(double x) { return __builtin_elementwise_abs(x); }
KFP_INLINE float with_sign(float x, float sign) { return __builtin_elementwise_copysign(x, sign); }
KFP_INLINE double with_sign(double x, double sign) { return __builtin_elementwise_copysign(x, sign); }
KFP_INLINE float flip_sign(float x, bool flip) { return from_bits(bits_of(x) ^ (uint(flip) << 31)); }
KFP_INLINE double flip_sign(double x, bool flip) { return from_bits(bits_of(x) ^ (ulong(flip) << 63)); }
KFP_INLINE bool is_nan(float x) { return x != x; }
KFP_INLINE bool sign_bit(float x) { return bits_of(x) >> 31; }

// A NaN passes through, as neither comparison holds.
template <class T> KFP_INLINE T clamp_or_nan(T x, T low, T high) { return x < low ? low : (x > high ? high : x); }

// The nearest whole number, for |x| < 2^22 (2^51 for double), as a value and as an integer: adding the magic number
// shifts the fraction out and leaves the integer in the low bits.
struct WholeFloat { float value; int integer; };
struct WholeDouble { double value; int integer; };

KFP_INLINE WholeFloat nearest(float x) {
    const float magic = 0x1.8p23f;
    const float shifted = x + magic;
    return {shifted - magic, int(bits_of(shifted) - bits_of(magic))};
}

KFP_INLINE WholeDouble nearest(double x) {
    const double magic = double(0x1.8p52L);
    const double shifted = x + magic;
    return {shifted - magic, int(bits_of(shifted))};
}

KFP_INLINE float power_of_two(int n) { return from_bits(uint(n + 127) << 23); }
KFP_INLINE double power_of_two_double(int n) { return from_bits(ulong(n + 1023) << 52); }

// x * 2^n for -252 <= n <= 254 with one rounding, if x is a normal number near 1.
KFP_INLINE float scale_by_two(float x, int n) {
    const int half_way = n >> 1;
    return x * power_of_two(half_way) * power_of_two(n - half_way);
}

// x = 2^exponent * (1 + rest), with 1 + rest within [sqrt(1/2), sqrt(2)), for finite x > 0.
struct SplitFloat { float rest; float exponent; };
struct SplitDouble { double rest; double exponent; };

KFP_INLINE SplitFloat split(float x) {
    const bool tiny = x < 0x1p-126f;
    const uint bits = bits_of(tiny ? x * 0x1p23f : x);
    const int exponent = int(bits - 0x3f3504f3u) >> 23;
    return {from_bits(bits - (uint(exponent) << 23)) - 1.0f, float(exponent - (tiny ? 23 : 0))};
}

// Only for values that are normal as a double.
KFP_INLINE SplitDouble split(double x) {
    const ulong bits = bits_of(x);
    const int exponent = int(uint(bits >> 32) - 0x3fe6a09eu) >> 20;
    return {from_bits(bits - (ulong(long(exponent)) << 52)) - double(1), double(exponent)};
}

struct SinCosFloat { float sin; float cos; };
struct SinCosDouble { double sin; double cos; };

// The sine and cosine of `quadrant` right angles plus what (sin, cos) stands for.
template <class SinCos> KFP_INLINE SinCos turn(SinCos reduced, int quadrant) {
    const bool swap = quadrant & 1;
    return {flip_sign(swap ? reduced.cos : reduced.sin, quadrant & 2),
            flip_sign(swap ? reduced.sin : reduced.cos, (quadrant + 1) & 2)};
}

}  // namespace __kfp

#pragma float_control(pop)

#endif
