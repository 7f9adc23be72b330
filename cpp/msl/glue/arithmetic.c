/* Library calls that clang makes for arithmetic which the target's instructions don't cover. */
#include "types.h"

typedef unsigned __int128 uint128;
typedef __int128 int128;

static uint32_t bits_of_float(float value) {
    union { float value; uint32_t bits; } u = {value};
    return u.bits;
}

static float float_of_bits(uint32_t bits) {
    union { uint32_t bits; float value; } u = {bits};
    return u.value;
}

static uint64_t bits_of_double(double value) {
    union { double value; uint64_t bits; } u = {value};
    return u.bits;
}

static double double_of_bits(uint64_t bits) {
    union { uint64_t bits; double value; } u = {bits};
    return u.value;
}

/* Drops `shift` low bits, to nearest, ties to even; 0 <= shift. */
static uint64_t round_off(uint64_t value, unsigned shift) {
    if (shift == 0) return value;
    if (shift > 63) return 0;
    const uint64_t half = 1ull << (shift - 1);
    const uint64_t rest = value & ((half << 1) - 1);
    value >>= shift;
    return value + (rest > half || (rest == half && (value & 1)));
}

/* A finite or infinite double as the bits of a format with `exponent_bits` and `fraction_bits` (1 sign bit). */
static uint16_t narrow(uint64_t bits, int exponent_bits, int fraction_bits) {
    const uint16_t sign = (uint16_t)((bits >> 63) << (exponent_bits + fraction_bits));
    const int maximum = (1 << exponent_bits) - 1;
    const uint64_t fraction = bits & ((1ull << 52) - 1);
    const int exponent = (int)((bits >> 52) & 2047);
    if (exponent == 2047 && fraction) {
        const int quiet = 1 << (fraction_bits - 1);
        return (uint16_t)(sign | maximum << fraction_bits | quiet | (int)(fraction >> (52 - fraction_bits)));
    }
    const int biased = exponent - 1023 + maximum / 2;
    if (biased >= maximum) return (uint16_t)(sign | maximum << fraction_bits);
    const uint64_t significand = fraction | 1ull << 52;
    /* A carry out of the fraction raises the exponent, up to infinity. */
    const uint64_t magnitude =
        biased > 0 ? ((uint64_t)biased << fraction_bits) + round_off(fraction, (unsigned)(52 - fraction_bits))
                   : round_off(exponent ? significand : 0, (unsigned)(53 - fraction_bits - biased));
    return (uint16_t)(sign | magnitude);
}

float __extendhfsf2(_Float16 value) {
    union { _Float16 value; uint16_t bits; } u = {value};
    const uint32_t sign = (uint32_t)(u.bits & 0x8000) << 16;
    const uint32_t magnitude = u.bits & 0x7fff;
    if (magnitude >= 0x7c00) {
        const uint32_t quiet = magnitude > 0x7c00 ? 0x400000 : 0;
        return float_of_bits(sign | 0x7f800000 | quiet | (magnitude & 0x3ff) << 13);
    }
    /* Read with the float's bias, then scaled by the difference of the biases: right for subnormals too. */
    return float_of_bits(sign | bits_of_float(float_of_bits(magnitude << 13) * 0x1p112f));
}

_Float16 __truncdfhf2(double value) {
    union { uint16_t bits; _Float16 value; } u = {narrow(bits_of_double(value), 5, 10)};
    return u.value;
}

_Float16 __truncsfhf2(float value) {
    return __truncdfhf2((double)value);
}

__bf16 __truncdfbf2(double value) {
    union { uint16_t bits; __bf16 value; } u = {narrow(bits_of_double(value), 8, 7)};
    return u.value;
}

__bf16 __truncsfbf2(float value) {
    return __truncdfbf2((double)value);
}

/* The product of two floats is exact as a double; the sum is rounded to odd there, so that rounding again is right. */
float fmaf(float x, float y, float z) {
    const double product = (double)x * y;
    const double addend = z;
    const double sum = product + addend;
    const double addend_part = sum - product;
    const double error = (product - (sum - addend_part)) + (addend - addend_part);
    uint64_t bits = bits_of_double(sum);
    const int finite = ((bits >> 52) & 2047) != 2047;
    if (finite && error != 0 && !(bits & 1)) bits += ((error > 0) == (sum > 0)) ? 1 : (uint64_t)-1;
    return (float)double_of_bits(bits);
}

static float with_sign_of(float magnitude, float sign) {
    return float_of_bits((bits_of_float(magnitude) & 0x7fffffff) | (bits_of_float(sign) & 0x80000000));
}

float truncf(float x) {
    const uint32_t exponent = bits_of_float(x) >> 23 & 255;
    if (exponent >= 127 + 23) return x + 0.0f;
    if (exponent < 127) return with_sign_of(0.0f, x);
    return float_of_bits(bits_of_float(x) & ~(0x7fffffu >> (exponent - 127)));
}

double trunc(double x) {
    const uint64_t exponent = bits_of_double(x) >> 52 & 2047;
    if (exponent >= 1023 + 52) return x + 0.0;
    const uint64_t sign = bits_of_double(x) & 1ull << 63;
    if (exponent < 1023) return double_of_bits(sign);
    return double_of_bits(bits_of_double(x) & ~(0xfffffffffffffull >> (exponent - 1023)));
}

float floorf(float x) {
    const float whole = truncf(x);
    return whole > x ? whole - 1.0f : whole;
}

float ceilf(float x) {
    const float whole = truncf(x);
    return whole < x ? with_sign_of(whole + 1.0f, x) : whole;
}

float roundf(float x) {
    const float whole = truncf(x);
    return with_sign_of(x, x) != x || __builtin_fabsf(x - whole) < 0.5f ? whole : whole + with_sign_of(1.0f, x);
}

float rintf(float x) {
    const float whole = truncf(x);
    const float rest = __builtin_fabsf(x - whole);
    if (!(rest >= 0.5f)) return whole;
    const int odd = (int)whole & 1;
    return rest > 0.5f || odd ? whole + with_sign_of(1.0f, x) : whole;
}

float nearbyintf(float x) {
    return rintf(x);
}

float roundevenf(float x) {
    return rintf(x);
}

float fminf(float x, float y) {
    return y != y || x < y ? x : y;
}

float fmaxf(float x, float y) {
    return y != y || x > y ? x : y;
}

static uint128 divide(uint128 dividend, uint128 divisor, uint128* remainder) {
    uint128 quotient = 0;
    uint128 rest = 0;
    for (int bit = 127; bit >= 0; --bit) {
        const int carry = (int)(rest >> 127);
        rest = rest << 1 | (dividend >> bit & 1);
        if (carry || rest >= divisor) {
            rest -= divisor;
            quotient |= (uint128)1 << bit;
        }
    }
    *remainder = rest;
    return quotient;
}

static uint128 magnitude(int128 value) {
    return value < 0 ? -(uint128)value : (uint128)value;
}

uint128 __udivti3(uint128 dividend, uint128 divisor) {
    uint128 remainder;
    return divide(dividend, divisor, &remainder);
}

uint128 __umodti3(uint128 dividend, uint128 divisor) {
    uint128 remainder;
    divide(dividend, divisor, &remainder);
    return remainder;
}

int128 __divti3(int128 dividend, int128 divisor) {
    uint128 remainder;
    const uint128 quotient = divide(magnitude(dividend), magnitude(divisor), &remainder);
    return (int128)((dividend < 0) != (divisor < 0) ? -quotient : quotient);
}

int128 __modti3(int128 dividend, int128 divisor) {
    uint128 remainder;
    divide(magnitude(dividend), magnitude(divisor), &remainder);
    return (int128)(dividend < 0 ? -remainder : remainder);
}

int128 __multi3(int128 left, int128 right) {
    const uint64_t mask = 0xffffffffu;
    const uint64_t a = (uint64_t)left;
    const uint64_t b = (uint64_t)right;
    const uint64_t low = (a & mask) * (b & mask);
    const uint64_t middle = (a >> 32) * (b & mask) + (low >> 32);
    const uint64_t cross = (a & mask) * (b >> 32) + (middle & mask);
    const uint64_t high = (a >> 32) * (b >> 32) + (middle >> 32) + (cross >> 32) +
                          a * (uint64_t)((uint128)right >> 64) + b * (uint64_t)((uint128)left >> 64);
    return (int128)((uint128)high << 64 | cross << 32 | (low & mask));
}
