// The precise variants: computed in double, where a polynomial of moderate degree leaves an error far below half an ulp
// of the float result, and overflow and subnormals take care of themselves in the conversion.
#ifndef KFP_MATH_PRECISE_H
#define KFP_MATH_PRECISE_H

#include "math_fast.h"

#pragma float_control(precise, on, push)
#pragma clang fp contract(on)

namespace __kfp {
namespace precise {

// 64 bits of 2/pi from `offset` bits after the binary point on; 0 <= offset < 192.
KFP_INLINE ulong two_over_pi_bits(uint offset) {
    const ulong w0 = 0xa2f9836e4e441529, w1 = 0xfc2757d1f534ddc0, w2 = 0xdb6295993c439041, w3 = 0xfe5163abdebbc561;
    const uint word = offset >> 6;
    const uint shift = offset & 63;
    const ulong first = word == 0 ? w0 : (word == 1 ? w1 : w2);
    const ulong second = word == 0 ? w1 : (word == 1 ? w2 : w3);
    return first << shift | (second >> 1) >> (63 - shift);
}

struct Reduced { double rest; int quadrant; };

// Payne and Hanek's reduction of x = significand * 2^exponent: bits of 2/pi whose product with x is a multiple of 4
// aren't needed, and those below the window don't matter.
KFP_INLINE Reduced reduce_huge(float x) {
    const uint bits = bits_of(x);
    const ulong significand = (bits & 0x7fffff) | 0x800000;
    const uint exponent = (bits >> 23 & 255) - 150;
    const ulong window = two_over_pi_bits(exponent - 2);
    const ulong below = two_over_pi_bits(exponent + 62) >> 32;
    const ulong turns = significand * window + (significand * below >> 32);
    const ulong quadrant = (turns + (1ul << 61)) >> 62;
    const double rest = double(long(turns - (quadrant << 62))) * double(0x1.921fb54442d18p-62L);
    return {flip_sign(rest, sign_bit(x)), sign_bit(x) ? -int(quadrant) : int(quadrant)};
}

// pi/2 in three parts; products with the first two are exact for quotients below 2^29.
KFP_INLINE Reduced reduce(float x) {
    const double wide = x;
    const WholeDouble n = nearest(wide * double(0x1.45f306dc9c883p-1L));
    double r = wide - n.value * double(0x1.921fb4p0L);
    r = r - n.value * double(0x1.4442dp-24L);
    r = r - n.value * double(0x1.8469898cc517p-48L);
    const float a = magnitude(x);
    if (a >= 0x1p28f && a < infinity) return reduce_huge(x);
    return {r, n.integer};
}

KFP_INLINE SinCosDouble sincos_reduced(double r) {
    const double u = r * r;
    return {r * (u * sin_tail(u) + double(1)), u * u * cos_tail(u) + (double(-0.5L) * u + double(1))};
}

KFP_INLINE SinCosDouble sincos_of(float x) {
    const Reduced r = reduce(x);
    return turn(sincos_reduced(r.rest), r.quadrant);
}

KFP_INLINE SinCosDouble sincospi_of(float x) {
    const double within = magnitude(x) < 0x1p24f ? x : x - x;  // from there on every float is even
    const WholeDouble n = nearest(double(2) * within);
    const double rest = within - double(0.5L) * n.value;
    return turn(sincos_reduced(rest * double(0x1.921fb54442d18p1L)), n.integer);
}

KFP_INLINE float sin(float x) { return float(sincos_of(x).sin); }
KFP_INLINE float cos(float x) { return float(sincos_of(x).cos); }
KFP_INLINE float tan(float x) { const SinCosDouble s = sincos_of(x); return float(s.sin / s.cos); }
KFP_INLINE float sinpi(float x) { return float(sincospi_of(x).sin); }
KFP_INLINE float cospi(float x) { return float(sincospi_of(x).cos); }
KFP_INLINE float tanpi(float x) { const SinCosDouble s = sincospi_of(x); return float(s.sin / s.cos); }

// e^r * 2^n for |r| <= ln(2)/2.
KFP_INLINE double exp_scaled(double r, int n) {
    return (r * r * exp_tail(r) + r + double(1)) * power_of_two_double(n);
}

// For |x| up to 700.
KFP_INLINE double exp_of(double x) {
    const WholeDouble n = nearest(x * double(0x1.71547652b82fep0L));
    return exp_scaled(x - n.value * double(0x1.62e42fefa39efp-1L), n.integer);
}

KFP_INLINE double exp2_of(double x) {
    const WholeDouble n = nearest(x);
    return exp_scaled((x - n.value) * double(0x1.62e42fefa39efp-1L), n.integer);
}

// The float's range, and a little more.
KFP_INLINE double within_exponents(double x) { return clamp_or_nan(x, double(-160), double(160)); }

KFP_INLINE float exp(float x) { return float(exp_of(within_exponents(double(x)))); }
KFP_INLINE float exp2(float x) { return float(exp2_of(within_exponents(double(x)))); }
KFP_INLINE float exp10(float x) {
    return float(exp_of(within_exponents(double(x) * double(0x1.26bb1bbb55516p1L))));
}

// For finite x > 0, in units of the logarithm of `base`: log_e and log_2 are the base's.
KFP_INLINE double log_of(double x, double log_e, double log_2) {
    const SplitDouble s = split(x);
    const double f = s.rest;
    return s.exponent * log_2 + (f * f * (f * log1p_tail(f) - double(0.5L)) + f) * log_e;
}

KFP_INLINE double natural_log(double x) { return log_of(x, double(1), double(0x1.62e42fefa39efp-1L)); }
KFP_INLINE double binary_log(double x) { return log_of(x, double(0x1.71547652b82fep0L), double(1)); }

KFP_INLINE float log(float x) { return fast::log_special(x, float(natural_log(x))); }
KFP_INLINE float log2(float x) { return fast::log_special(x, float(binary_log(x))); }
KFP_INLINE float log10(float x) {
    return fast::log_special(x, float(log_of(x, double(0x1.bcb7b1526e50ep-2L), double(0x1.34413509f79ffp-2L))));
}

KFP_INLINE float power_of_positive(float x, float y) {
    const bool ordinary = x > 0.0f && x < infinity;
    const double logarithm = ordinary ? binary_log(x) : double(fast::log_special(x, 0.0f));
    return float(exp2_of(within_exponents(double(y) * logarithm)));
}

KFP_INLINE double atan_of_unit(double z) { const double u = z * z; return z * (u * atan_tail(u) + double(1)); }

KFP_INLINE float atan(float x) {
    const double a = magnitude(x);
    const bool inverse = a > double(1);
    const double p = atan_of_unit(inverse ? double(1) / a : a);
    return with_sign(float(inverse ? double(0x1.921fb54442d18p0L) - p : p), x);
}

KFP_INLINE float atan2(float y, float x) {
    const double ax = magnitude(x);
    const double ay = magnitude(y);
    const bool steep = ay > ax;
    const double smaller = steep ? ax : ay;
    const double larger = steep ? ay : ax;
    const double ratio = smaller == larger ? double(larger == double(0) ? 0 : 1) : smaller / larger;
    double angle = atan_of_unit(ratio);
    angle = steep ? double(0x1.921fb54442d18p0L) - angle : angle;
    angle = sign_bit(x) ? double(0x1.921fb54442d18p1L) - angle : angle;
    return is_nan(x) || is_nan(y) ? x + y : with_sign(float(angle), y);
}

KFP_INLINE double asin_of_half(double s, double u) { return s * (u * asin_tail(u) + double(1)); }

KFP_INLINE float asin(float x) {
    const double a = magnitude(x);
    const bool large = a > double(0.5L);
    const double u = large ? (double(1) - a) * double(0.5L) : a * a;
    const double p = asin_of_half(large ? __builtin_elementwise_sqrt(u) : a, u);
    return with_sign(float(large ? double(0x1.921fb54442d18p0L) - double(2) * p : p), x);
}

KFP_INLINE float acos(float x) {
    const double a = magnitude(x);
    const bool large = a > double(0.5L);
    const double u = large ? (double(1) - a) * double(0.5L) : a * a;
    const double p = asin_of_half(large ? __builtin_elementwise_sqrt(u) : double(x), u);
    const double of_large = x > 0.0f ? double(2) * p : double(0x1.921fb54442d18p1L) - double(2) * p;
    return float(large ? of_large : double(0x1.921fb54442d18p0L) - p);
}

KFP_INLINE float cosh(float x) {
    const double e = exp_of(within_exponents(magnitude(x)));
    return float(double(0.5L) * (e + double(1) / e));
}

KFP_INLINE float sinh(float x) {
    const double a = magnitude(x);
    const double u = a * a;
    const double e = exp_of(within_exponents(a));
    const double of_small = a * (u * sinh_tail(u) + double(1));
    return with_sign(float(a < double(1) ? of_small : double(0.5L) * (e - double(1) / e)), x);
}

KFP_INLINE float tanh(float x) {
    const double a = magnitude(x);
    const double u = a * a;
    const double of_small = a * (u * tanh_tail(u) + double(1));
    const double of_large = double(1) - double(2) / (exp_of(within_exponents(double(2) * a)) + double(1));
    return with_sign(float(a < double(0.625L) ? of_small : of_large), x);
}

// Below 2^-12 the logarithms would lose the low bits of x: two terms of the series are exact there.
KFP_INLINE float asinh(float x) {
    const double a = magnitude(x);
    const double square = a * a;
    const double argument = a + __builtin_elementwise_sqrt(square + double(1));
    const double of_small = a * (double(1) - square * double(0x1.5555555555555p-3L));
    const float result = float(a < double(0x1p-12L) ? of_small : natural_log(argument));
    return with_sign(a < double(infinity) ? result : float(a), x);
}

KFP_INLINE float acosh(float x) {
    const double wide = x;
    const double root = __builtin_elementwise_sqrt(wide * wide - double(1));
    const float result = float(natural_log(wide + root));
    return x >= 1.0f ? (x < infinity ? result : x) : not_a_number;
}

KFP_INLINE float atanh(float x) {
    const double a = magnitude(x);
    const double of_small = a * (a * a * double(0x1.5555555555555p-2L) + double(1));
    const double of_large = double(0.5L) * natural_log((double(1) + a) / (double(1) - a));
    const float result = float(a < double(0x1p-12L) ? of_small : of_large);
    return with_sign(a < double(1) ? result : (a == double(1) ? infinity : not_a_number), x);
}

KFP_INLINE float rsqrt(float x) { return float(double(1) / __builtin_elementwise_sqrt(double(x))); }

}  // namespace precise

// Shared: the plain formulas would lose everything near 0.
namespace fast {
KFP_INLINE float asinh(float x) { return precise::asinh(x); }
KFP_INLINE float acosh(float x) { return precise::acosh(x); }
KFP_INLINE float atanh(float x) { return precise::atanh(x); }
}  // namespace fast

}  // namespace __kfp

#pragma float_control(pop)

#endif
