// The fast variants, in float alone. Errors are a few ulp (tests/msl/math measures them), well inside the fast-math
// table of the Metal Shading Language Specification.
#ifndef KFP_MATH_FAST_H
#define KFP_MATH_FAST_H

#include "math_polynomials.h"

#pragma float_control(precise, on, push)
#pragma clang fp contract(on)

namespace __kfp {
namespace fast {

KFP_INLINE SinCosFloat sincos_reduced(float r) {
    const float u = r * r;
    return {r * u * sin_tail(u) + r, u * u * cos_tail(u) + (-0.5f * u + 1.0f)};
}

// pi/2 in three parts: products with the first two are exact for quotients below 2^13 even without fused operations.
// From about 2^22 on, the reduction fails; the clamp keeps the result within [-1, 1].
KFP_INLINE SinCosFloat sincos_of(float x) {
    const WholeFloat n = nearest(x * 0x1.45f306p-1f);
    float r = x - n.value * 0x1.92p0f;
    r = r - n.value * 0x1.fb4p-12f;
    r = r - n.value * 0x1.4442d2p-24f;
    return turn(sincos_reduced(clamp_or_nan(r, -0.8f, 0.8f)), n.integer);
}

// Of pi * x.
KFP_INLINE SinCosFloat sincospi_of(float x) {
    const float within = magnitude(x) < 0x1p21f ? x : x - 2.0f * __builtin_elementwise_trunc(0.5f * x);
    const WholeFloat n = nearest(within * 2.0f);
    return turn(sincos_reduced((within - n.value * 0.5f) * 0x1.921fb6p1f), n.integer);
}

KFP_INLINE float sin(float x) { return sincos_of(x).sin; }
KFP_INLINE float cos(float x) { return sincos_of(x).cos; }
KFP_INLINE float tan(float x) { const SinCosFloat s = sincos_of(x); return s.sin / s.cos; }
KFP_INLINE float sinpi(float x) { return sincospi_of(x).sin; }
KFP_INLINE float cospi(float x) { return sincospi_of(x).cos; }
KFP_INLINE float tanpi(float x) { const SinCosFloat s = sincospi_of(x); return s.sin / s.cos; }

// e^r * 2^n for |r| <= ln(2)/2.
KFP_INLINE float exp_scaled(float r, int n) { return scale_by_two(r * r * exp_tail(r) + r + 1.0f, n); }

// e^x * 2^shift
KFP_INLINE float exp_shifted(float x, int shift) {
    const float within = clamp_or_nan(x, -105.0f, 90.0f);
    const WholeFloat n = nearest(within * 0x1.715476p0f);
    const float r = (within - n.value * 0x1.62e4p-1f) - n.value * 0x1.7f7d1cp-20f;
    return exp_scaled(r, n.integer + shift);
}

KFP_INLINE float exp(float x) { return exp_shifted(x, 0); }

KFP_INLINE float exp2(float x) {
    const float within = clamp_or_nan(x, -152.0f, 129.0f);
    const WholeFloat n = nearest(within);
    return exp_scaled((within - n.value) * 0x1.62e43p-1f, n.integer);
}

KFP_INLINE float exp10(float x) {
    const float within = clamp_or_nan(x, -46.0f, 39.0f);
    const WholeFloat n = nearest(within * 0x1.a934fp1f);
    const float r = (within - n.value * 0x1.344p-2f) - n.value * 0x1.3509f8p-18f;
    return exp_scaled(r * 0x1.26bb1cp1f, n.integer);
}

KFP_INLINE float log_special(float x, float ordinary) {
    return x > 0.0f ? (x < infinity ? ordinary : x) : (x == 0.0f ? -infinity : not_a_number);
}

// log(1 + f) - f
KFP_INLINE float log1p_rest(float f) { return f * f * (f * log1p_tail(f) - 0.5f); }

KFP_INLINE float log(float x) {
    const SplitFloat s = split(x);
    const float low = s.exponent * 0x1.7f7d1cp-20f + log1p_rest(s.rest);
    return log_special(x, s.exponent * 0x1.62e4p-1f + (s.rest + low));
}

// log2(1 + f), log2(e) in two parts
KFP_INLINE float log2_1p(float f) {
    const float rest = log1p_rest(f);
    return f * 0x1.715476p0f + (rest * 0x1.715476p0f + f * 0x1.4ae0cp-26f);
}

KFP_INLINE float log2(float x) {
    const SplitFloat s = split(x);
    return log_special(x, s.exponent + log2_1p(s.rest));
}

KFP_INLINE float log10(float x) {
    const SplitFloat s = split(x);
    const float rest = log1p_rest(s.rest);
    const float low = rest * 0x1.bcb7b2p-2f + (s.rest * -0x1.5b235ep-27f + s.exponent * 0x1.3509f8p-18f);
    return log_special(x, s.exponent * 0x1.344p-2f + (s.rest * 0x1.bcb7b2p-2f + low));
}

// 2^(y * log2(x)) for x >= 0. The logarithm's leading terms and the product are formed in double, as y magnifies their
// errors.
KFP_INLINE float power_of_positive(float x, float y) {
    const SplitFloat s = split(x);
    const double f = s.rest;
    const double log1p = f * f * double(s.rest * log1p_tail(s.rest) - 0.5f) + f;
    const double logarithm = log1p * double(0x1.71547652b82fep0L) + double(s.exponent);
    const bool ordinary = x > 0.0f && x < infinity;
    const double t = double(y) * (ordinary ? logarithm : double(log_special(x, 0.0f)));
    const double within = clamp_or_nan(t, double(-152), double(129));
    const WholeDouble n = nearest(within);
    return exp_scaled(float(within - n.value) * 0x1.62e43p-1f, n.integer);
}

KFP_INLINE float atan_of_unit(float z) {
    const float u = z * z;
    return z * u * atan_tail(u) + z;
}

KFP_INLINE float atan(float x) {
    const float a = magnitude(x);
    const bool inverse = a > 1.0f;
    const float p = atan_of_unit(inverse ? 1.0f / a : a);
    return with_sign(inverse ? 0x1.921fb6p0f - (p + 0x1.777a5cp-25f) : p, x);
}

KFP_INLINE float atan2(float y, float x) {
    const float ax = magnitude(x);
    const float ay = magnitude(y);
    const bool steep = ay > ax;
    const float smaller = steep ? ax : ay;
    const float larger = steep ? ay : ax;
    const float ratio = smaller == larger ? (larger == 0.0f ? 0.0f : 1.0f) : smaller / larger;
    float angle = atan_of_unit(ratio);
    angle = steep ? 0x1.921fb6p0f - (angle + 0x1.777a5cp-25f) : angle;
    angle = sign_bit(x) ? 0x1.921fb6p1f - (angle + 0x1.777a5cp-24f) : angle;
    return is_nan(x) || is_nan(y) ? x + y : with_sign(angle, y);
}

// asin(s) with u = s^2, for s <= 1/2
KFP_INLINE float asin_of_half(float s, float u) { return s * u * asin_tail(u) + s; }

KFP_INLINE float asin(float x) {
    const float a = magnitude(x);
    const bool large = a > 0.5f;
    const float u = large ? (1.0f - a) * 0.5f : a * a;
    const float p = asin_of_half(large ? __builtin_elementwise_sqrt(u) : a, u);
    return with_sign(large ? 0x1.921fb6p0f - (2.0f * p + 0x1.777a5cp-25f) : p, x);
}

KFP_INLINE float acos(float x) {
    const float a = magnitude(x);
    const bool large = a > 0.5f;
    const float u = large ? (1.0f - a) * 0.5f : a * a;
    const float p = asin_of_half(large ? __builtin_elementwise_sqrt(u) : x, u);
    const float of_large = x > 0.0f ? 2.0f * p : 0x1.921fb6p1f - (2.0f * p + 0x1.777a5cp-24f);
    return large ? of_large : 0x1.921fb6p0f - (p + 0x1.777a5cp-25f);
}

KFP_INLINE float cosh(float x) {
    const float half_exp = exp_shifted(magnitude(x), -1);
    return half_exp + 0.25f / half_exp;
}

KFP_INLINE float sinh(float x) {
    const float a = magnitude(x);
    const float half_exp = exp_shifted(a, -1);
    const float u = x * x;
    return with_sign(a < 1.0f ? a * u * sinh_tail(u) + a : half_exp - 0.25f / half_exp, x);
}

KFP_INLINE float tanh(float x) {
    const float a = magnitude(x);
    const float u = x * x;
    const float of_large = 1.0f - 2.0f / (exp_shifted(2.0f * a, 0) + 1.0f);
    return with_sign(a < 0.625f ? a * u * tanh_tail(u) + a : of_large, x);
}

KFP_INLINE float rsqrt(float x) { return 1.0f / __builtin_elementwise_sqrt(x); }

// Exact while the quotient is below 2^28; 0 where nothing of the remainder is left.
KFP_INLINE float fmod(float x, float y) {
    const double quotient = __builtin_elementwise_trunc(double(x) / double(y));
    const float rest = float(double(x) - quotient * double(y));
    const float within = magnitude(rest) >= magnitude(y) ? 0.0f : rest;
    return magnitude(x) < magnitude(y) ? x : with_sign(within, x);
}

}  // namespace fast
}  // namespace __kfp

#pragma float_control(pop)

#endif
