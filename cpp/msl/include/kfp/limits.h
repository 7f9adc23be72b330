// Limits and constants: the macros of Metal's headers and metal::numeric_limits.
#ifndef KFP_LIMITS_H
#define KFP_LIMITS_H

#include "scalar.h"

#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1l)
#define ULONG_MAX 18446744073709551615ul

#define INT8_MAX SCHAR_MAX
#define INT8_MIN SCHAR_MIN
#define UINT8_MAX UCHAR_MAX
#define INT16_MAX SHRT_MAX
#define INT16_MIN SHRT_MIN
#define UINT16_MAX USHRT_MAX
#define INT32_MAX INT_MAX
#define INT32_MIN INT_MIN
#define UINT32_MAX UINT_MAX
#define INT64_MAX LONG_MAX
#define INT64_MIN LONG_MIN
#define UINT64_MAX ULONG_MAX
#define SIZE_MAX ULONG_MAX
#define PTRDIFF_MAX LONG_MAX
#define PTRDIFF_MIN LONG_MIN

#define FLT_RADIX 2
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX_10_EXP 38
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MIN_EXP (-125)
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#define FLT_DECIMAL_DIG 9
#define FLT_TRUE_MIN 0x1.0p-149f
#define FP_ILOGB0 INT_MIN
#define FP_ILOGBNAN INT_MIN
#define MAXFLOAT FLT_MAX
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VAL HUGE_VALF
#define INFINITY __builtin_huge_valf()
#define NAN __builtin_nanf("")

#define HALF_RADIX 2
#define HALF_DIG 3
#define HALF_MANT_DIG 11
#define HALF_MAX_10_EXP 4
#define HALF_MAX_EXP 16
#define HALF_MIN_10_EXP (-4)
#define HALF_MIN_EXP (-13)
#define HALF_MAX 0x1.ffcp15h
#define HALF_MIN 0x1.0p-14h
#define HALF_EPSILON 0x1.0p-10h
#define HALF_DECIMAL_DIG 5
#define HALF_TRUE_MIN 0x1.0p-24h
#define MAXHALF HALF_MAX
#define HUGE_VALH ((half)__builtin_huge_valf())

#define BFLT_RADIX 2
#define BFLT_DIG 2
#define BFLT_MANT_DIG 8
#define BFLT_MAX_10_EXP 38
#define BFLT_MAX_EXP 128
#define BFLT_MIN_10_EXP (-37)
#define BFLT_MIN_EXP (-125)
#define BFLT_MAX ((bfloat)0x1.fep127f)
#define BFLT_MIN ((bfloat)0x1.0p-126f)
#define BFLT_EPSILON ((bfloat)0x1.0p-7f)
#define BFLT_DECIMAL_DIG 4
#define BFLT_TRUE_MIN ((bfloat)0x1.0p-133f)
#define MAXBFLOAT BFLT_MAX
#define HUGE_VALBF ((bfloat)__builtin_huge_valf())

#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.434294481903251827651f
#define M_LN2_F 0.693147180559945309417f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.785398163397448309616f
#define M_1_PI_F 0.318309886183790671538f
#define M_2_PI_F 0.636619772367581343076f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.707106781186547524401f

#define M_E_H 2.71828182845904523536h
#define M_LOG2E_H 1.44269504088896340736h
#define M_LOG10E_H 0.434294481903251827651h
#define M_LN2_H 0.693147180559945309417h
#define M_LN10_H 2.30258509299404568402h
#define M_PI_H 3.14159265358979323846h
#define M_PI_2_H 1.57079632679489661923h
#define M_PI_4_H 0.785398163397448309616h
#define M_1_PI_H 0.318309886183790671538h
#define M_2_PI_H 0.636619772367581343076h
#define M_2_SQRTPI_H 1.12837916709551257390h
#define M_SQRT2_H 1.41421356237309504880h
#define M_SQRT1_2_H 0.707106781186547524401h

#define M_E_BF ((bfloat)M_E_F)
#define M_LOG2E_BF ((bfloat)M_LOG2E_F)
#define M_LOG10E_BF ((bfloat)M_LOG10E_F)
#define M_LN2_BF ((bfloat)M_LN2_F)
#define M_LN10_BF ((bfloat)M_LN10_F)
#define M_PI_BF ((bfloat)M_PI_F)
#define M_PI_2_BF ((bfloat)M_PI_2_F)
#define M_PI_4_BF ((bfloat)M_PI_4_F)
#define M_1_PI_BF ((bfloat)M_1_PI_F)
#define M_2_PI_BF ((bfloat)M_2_PI_F)
#define M_2_SQRTPI_BF ((bfloat)M_2_SQRTPI_F)
#define M_SQRT2_BF ((bfloat)M_SQRT2_F)
#define M_SQRT1_2_BF ((bfloat)M_SQRT1_2_F)

namespace __kfp {

template <class T, T lowest_, T highest_>
struct integer_limits {
    static constexpr constant bool is_specialized = true;
    static constexpr constant bool is_signed = lowest_ < 0;
    static constexpr constant bool is_integer = true;
    static constexpr constant bool is_exact = true;
    static constexpr constant bool is_bounded = true;
    static constexpr constant bool is_modulo = !is_signed;
    static constexpr constant bool is_iec559 = false;
    static constexpr constant bool has_infinity = false;
    static constexpr constant bool has_quiet_NaN = false;
    static constexpr constant bool has_signaling_NaN = false;
    static constexpr constant int radix = 2;
    static constexpr constant int digits = __is_same(T, bool) ? 1 : 8 * int(sizeof(T)) - is_signed;
    static constexpr constant int digits10 = digits * 3 / 10;
    static constexpr constant int max_digits10 = 0;
    static constexpr constant int min_exponent = 0;
    static constexpr constant int min_exponent10 = 0;
    static constexpr constant int max_exponent = 0;
    static constexpr constant int max_exponent10 = 0;
    static constexpr T min() { return lowest_; }
    static constexpr T lowest() { return lowest_; }
    static constexpr T max() { return highest_; }
    static constexpr T epsilon() { return 0; }
    static constexpr T round_error() { return 0; }
    static constexpr T infinity() { return 0; }
    static constexpr T quiet_NaN() { return 0; }
    static constexpr T signaling_NaN() { return 0; }
    static constexpr T denorm_min() { return 0; }
};

struct floating_limits {
    static constexpr constant bool is_specialized = true;
    static constexpr constant bool is_signed = true;
    static constexpr constant bool is_integer = false;
    static constexpr constant bool is_exact = false;
    static constexpr constant bool is_bounded = true;
    static constexpr constant bool is_modulo = false;
    static constexpr constant bool is_iec559 = true;
    static constexpr constant bool has_infinity = true;
    static constexpr constant bool has_quiet_NaN = true;
    static constexpr constant bool has_signaling_NaN = true;
    static constexpr constant int radix = 2;
};

}  // namespace __kfp

namespace metal {

template <class T>
struct numeric_limits {
    static constexpr constant bool is_specialized = false;
};
template <class T> struct numeric_limits<const T> : numeric_limits<T> {};
template <class T> struct numeric_limits<volatile T> : numeric_limits<T> {};

template <> struct numeric_limits<bool> : __kfp::integer_limits<bool, false, true> {};
template <> struct numeric_limits<char> : __kfp::integer_limits<char, CHAR_MIN, CHAR_MAX> {};
template <> struct numeric_limits<uchar> : __kfp::integer_limits<uchar, 0, UCHAR_MAX> {};
template <> struct numeric_limits<short> : __kfp::integer_limits<short, SHRT_MIN, SHRT_MAX> {};
template <> struct numeric_limits<ushort> : __kfp::integer_limits<ushort, 0, USHRT_MAX> {};
template <> struct numeric_limits<int> : __kfp::integer_limits<int, INT_MIN, INT_MAX> {};
template <> struct numeric_limits<uint> : __kfp::integer_limits<uint, 0, UINT_MAX> {};
template <> struct numeric_limits<long> : __kfp::integer_limits<long, LONG_MIN, LONG_MAX> {};
template <> struct numeric_limits<ulong> : __kfp::integer_limits<ulong, 0, ULONG_MAX> {};

#define KFP_FLOATING_LIMITS(T, PREFIX) \
    template <> struct numeric_limits<T> : __kfp::floating_limits { \
        static constexpr constant int digits = PREFIX##_MANT_DIG; \
        static constexpr constant int digits10 = PREFIX##_DIG; \
        static constexpr constant int max_digits10 = PREFIX##_DECIMAL_DIG; \
        static constexpr constant int min_exponent = PREFIX##_MIN_EXP; \
        static constexpr constant int min_exponent10 = PREFIX##_MIN_10_EXP; \
        static constexpr constant int max_exponent = PREFIX##_MAX_EXP; \
        static constexpr constant int max_exponent10 = PREFIX##_MAX_10_EXP; \
        static constexpr T min() { return PREFIX##_MIN; } \
        static constexpr T max() { return PREFIX##_MAX; } \
        static constexpr T lowest() { return -PREFIX##_MAX; } \
        static constexpr T epsilon() { return PREFIX##_EPSILON; } \
        static constexpr T round_error() { return (T)0.5f; } \
        static constexpr T infinity() { return (T)__builtin_huge_valf(); } \
        static constexpr T quiet_NaN() { return (T)__builtin_nanf(""); } \
        static constexpr T signaling_NaN() { return (T)__builtin_nanf(""); } \
        static constexpr T denorm_min() { return PREFIX##_TRUE_MIN; } \
    };
KFP_FLOATING_LIMITS(float, FLT)
KFP_FLOATING_LIMITS(half, HALF)
KFP_FLOATING_LIMITS(bfloat, BFLT)
#undef KFP_FLOATING_LIMITS

}  // namespace metal

#endif
