// The math library's overload sets: per function one for float and half and each of their vectors, no templates, so that
// calls that mix types are resolved (or are ambiguous) as with Apple's headers.
#ifndef KFP_MATH_H
#define KFP_MATH_H

#pragma float_control(precise, on, push)
#pragma clang fp contract(on)

#ifdef __KFP_PRECISE_MATH__
#define KFP_MATH_MODE precise
#else
#define KFP_MATH_MODE fast
#endif

// The vector forms of a function of 1, 2 or 3 arguments, given its scalar form, in whatever namespace this stands.
#define KFP_VECTORS_1(T, f)                                                                          \
    KFP_INLINE vec<T, 2> f(vec<T, 2> x) { return vec<T, 2>(f(x[0]), f(x[1])); }                      \
    KFP_INLINE vec<T, 3> f(vec<T, 3> x) { return vec<T, 3>(f(x[0]), f(x[1]), f(x[2])); }             \
    KFP_INLINE vec<T, 4> f(vec<T, 4> x) { return vec<T, 4>(f(x[0]), f(x[1]), f(x[2]), f(x[3])); }
#define KFP_VECTORS_2(T, f)                                                                          \
    KFP_INLINE vec<T, 2> f(vec<T, 2> x, vec<T, 2> y) {                                               \
        return vec<T, 2>(f(x[0], y[0]), f(x[1], y[1]));                                              \
    }                                                                                                \
    KFP_INLINE vec<T, 3> f(vec<T, 3> x, vec<T, 3> y) {                                               \
        return vec<T, 3>(f(x[0], y[0]), f(x[1], y[1]), f(x[2], y[2]));                               \
    }                                                                                                \
    KFP_INLINE vec<T, 4> f(vec<T, 4> x, vec<T, 4> y) {                                               \
        return vec<T, 4>(f(x[0], y[0]), f(x[1], y[1]), f(x[2], y[2]), f(x[3], y[3]));                \
    }
#define KFP_VECTORS_3(T, f)                                                                          \
    KFP_INLINE vec<T, 2> f(vec<T, 2> x, vec<T, 2> y, vec<T, 2> z) {                                  \
        return vec<T, 2>(f(x[0], y[0], z[0]), f(x[1], y[1], z[1]));                                  \
    }                                                                                                \
    KFP_INLINE vec<T, 3> f(vec<T, 3> x, vec<T, 3> y, vec<T, 3> z) {                                  \
        return vec<T, 3>(f(x[0], y[0], z[0]), f(x[1], y[1], z[1]), f(x[2], y[2], z[2]));             \
    }                                                                                                \
    KFP_INLINE vec<T, 4> f(vec<T, 4> x, vec<T, 4> y, vec<T, 4> z) {                                  \
        return vec<T, 4>(f(x[0], y[0], z[0]), f(x[1], y[1], z[1]), f(x[2], y[2], z[2]),              \
                         f(x[3], y[3], z[3]));                                                       \
    }

// A function with a fast and a precise variant of float; half is computed as float in every mode.
#define KFP_MODAL(count, f, parameters, as_half)                                                     \
    namespace precise { KFP_MODAL_FLOAT(count, f, precise, parameters(float)) }                      \
    namespace fast { KFP_MODAL_FLOAT(count, f, fast, parameters(float)) }                            \
    using KFP_MATH_MODE::f;                                                                          \
    KFP_INLINE half f(parameters(half)) { return half(::__kfp::fast::f as_half); }                   \
    KFP_VECTORS_##count(half, f)
#define KFP_MODAL_FLOAT(count, f, mode, ...)                                                         \
    KFP_INLINE float f(__VA_ARGS__) { return ::__kfp::mode::f KFP_ARGUMENTS_##count; }               \
    KFP_VECTORS_##count(float, f)

// A function with the same result in all modes, from one expression of x, y, z for both types.
#define KFP_EXACT(count, f, parameters, ...)                                                         \
    namespace precise {                                                                              \
    KFP_INLINE float f(parameters(float)) { typedef float T; return T(__VA_ARGS__); }                \
    KFP_VECTORS_##count(float, f)                                                                    \
    }                                                                                                \
    namespace fast { using precise::f; }                                                             \
    using precise::f;                                                                                \
    KFP_INLINE half f(parameters(half)) { typedef half T; return T(__VA_ARGS__); }                   \
    KFP_VECTORS_##count(half, f)

#define KFP_X(T) T x
#define KFP_XY(T) T x, T y
#define KFP_XYZ(T) T x, T y, T z
#define KFP_ARGUMENTS_1 (x)
#define KFP_ARGUMENTS_2 (x, y)
#define KFP_MODAL_1(f) KFP_MODAL(1, f, KFP_X, (float(x)))
#define KFP_MODAL_2(f) KFP_MODAL(2, f, KFP_XY, (float(x), float(y)))
#define KFP_EXACT_1(f, ...) KFP_EXACT(1, f, KFP_X, __VA_ARGS__)
#define KFP_EXACT_2(f, ...) KFP_EXACT(2, f, KFP_XY, __VA_ARGS__)
#define KFP_EXACT_3(f, ...) KFP_EXACT(3, f, KFP_XYZ, __VA_ARGS__)

namespace metal {

KFP_MODAL_1(acos)
KFP_MODAL_1(acosh)
KFP_MODAL_1(asin)
KFP_MODAL_1(asinh)
KFP_MODAL_1(atan)
KFP_MODAL_1(atanh)
KFP_MODAL_1(cos)
KFP_MODAL_1(cosh)
KFP_MODAL_1(cospi)
KFP_MODAL_1(exp)
KFP_MODAL_1(exp10)
KFP_MODAL_1(exp2)
KFP_MODAL_1(log)
KFP_MODAL_1(log10)
KFP_MODAL_1(log2)
KFP_MODAL_1(rsqrt)
KFP_MODAL_1(sin)
KFP_MODAL_1(sinh)
KFP_MODAL_1(sinpi)
KFP_MODAL_1(tan)
KFP_MODAL_1(tanh)
KFP_MODAL_1(tanpi)
KFP_MODAL_2(atan2)
KFP_MODAL_2(fmod)
KFP_MODAL_2(pow)
KFP_MODAL_2(powr)

KFP_EXACT_1(abs, __builtin_elementwise_abs(x))
KFP_EXACT_1(ceil, __builtin_elementwise_ceil(x))
KFP_EXACT_1(fabs, __builtin_elementwise_abs(x))
KFP_EXACT_1(floor, __builtin_elementwise_floor(x))
KFP_EXACT_1(fract, __kfp::fract(x))
KFP_EXACT_1(rint, __builtin_elementwise_rint(x))
KFP_EXACT_1(round, __builtin_elementwise_round(x))
KFP_EXACT_1(sqrt, __builtin_elementwise_sqrt(float(x)))
KFP_EXACT_1(trunc, __builtin_elementwise_trunc(x))
KFP_EXACT_2(copysign, __builtin_elementwise_copysign(x, y))
KFP_EXACT_2(divide, x / y)
KFP_EXACT_2(fdim, __kfp::fdim(float(x), float(y)))
KFP_EXACT_2(fmax, __builtin_elementwise_max(x, y))
KFP_EXACT_2(fmin, __builtin_elementwise_min(x, y))
KFP_EXACT_2(max, __builtin_elementwise_max(x, y))
KFP_EXACT_2(min, __builtin_elementwise_min(x, y))
KFP_EXACT_2(nextafter, __kfp::nextafter(x, y))
KFP_EXACT_3(fma, __builtin_elementwise_fma(float(x), float(y), float(z)))
KFP_EXACT_3(fmax3, __builtin_elementwise_max(x, __builtin_elementwise_max(y, z)))
KFP_EXACT_3(fmedian3, __kfp::median(x, y, z))
KFP_EXACT_3(fmin3, __builtin_elementwise_min(x, __builtin_elementwise_min(y, z)))
KFP_EXACT_3(max3, __builtin_elementwise_max(x, __builtin_elementwise_max(y, z)))
KFP_EXACT_3(median3, __kfp::median(x, y, z))
KFP_EXACT_3(min3, __builtin_elementwise_min(x, __builtin_elementwise_min(y, z)))

// sincos, modf and frexp return one result and store another, of type S, through a reference to thread memory.
#define KFP_STORING_VECTORS(T, S, f)                                                                 \
    KFP_INLINE vec<T, 2> f(vec<T, 2> x, __private vec<S, 2>& y) {                                    \
        S s[2];                                                                                      \
        const vec<T, 2> result(f(x[0], s[0]), f(x[1], s[1]));                                        \
        y = vec<S, 2>(s[0], s[1]);                                                                   \
        return result;                                                                               \
    }                                                                                                \
    KFP_INLINE vec<T, 3> f(vec<T, 3> x, __private vec<S, 3>& y) {                                    \
        S s[3];                                                                                      \
        const vec<T, 3> result(f(x[0], s[0]), f(x[1], s[1]), f(x[2], s[2]));                         \
        y = vec<S, 3>(s[0], s[1], s[2]);                                                             \
        return result;                                                                               \
    }                                                                                                \
    KFP_INLINE vec<T, 4> f(vec<T, 4> x, __private vec<S, 4>& y) {                                    \
        S s[4];                                                                                      \
        const vec<T, 4> result(f(x[0], s[0]), f(x[1], s[1]), f(x[2], s[2]), f(x[3], s[3]));          \
        y = vec<S, 4>(s[0], s[1], s[2], s[3]);                                                       \
        return result;                                                                               \
    }

namespace precise {
KFP_INLINE float sincos(float x, __private float& cosine) {
    const __kfp::SinCosDouble both = __kfp::precise::sincos_of(x);
    cosine = float(both.cos);
    return float(both.sin);
}
KFP_STORING_VECTORS(float, float, sincos)
KFP_INLINE float modf(float x, __private float& whole) { return __kfp::modf(x, whole); }
KFP_STORING_VECTORS(float, float, modf)
KFP_INLINE float frexp(float x, __private int& exponent) { return __kfp::frexp(x, exponent); }
KFP_STORING_VECTORS(float, int, frexp)
}  // namespace precise
namespace fast {
KFP_INLINE float sincos(float x, __private float& cosine) {
    const __kfp::SinCosFloat both = __kfp::fast::sincos_of(x);
    cosine = both.cos;
    return both.sin;
}
KFP_STORING_VECTORS(float, float, sincos)
using precise::frexp;
using precise::modf;
}  // namespace fast
using KFP_MATH_MODE::sincos;
using precise::frexp;
using precise::modf;

KFP_INLINE half sincos(half x, __private half& cosine) {
    const __kfp::SinCosFloat both = __kfp::fast::sincos_of(x);
    cosine = half(both.cos);
    return half(both.sin);
}
KFP_STORING_VECTORS(half, half, sincos)
KFP_INLINE half modf(half x, __private half& whole) {
    float as_float;
    const float rest = __kfp::modf(x, as_float);
    whole = half(as_float);
    return half(rest);
}
KFP_STORING_VECTORS(half, half, modf)
KFP_INLINE half frexp(half x, __private int& exponent) { return half(__kfp::frexp(x, exponent)); }
KFP_STORING_VECTORS(half, int, frexp)

#define KFP_INTEGER_VECTORS(T, N, ilogb_components, ldexp_components)                                \
    KFP_INLINE vec<int, N> ilogb(vec<T, N> x) { return vec<int, N> ilogb_components; }               \
    KFP_INLINE vec<T, N> ldexp(vec<T, N> x, vec<int, N> n) { return vec<T, N> ldexp_components; }
#define KFP_INTEGER_FUNCTIONS(T)                                                                     \
    KFP_INLINE int ilogb(T x) { return __kfp::ilogb(float(x)); }                                     \
    KFP_INLINE T ldexp(T x, int n) { return T(__kfp::ldexp(float(x), n)); }                          \
    KFP_INTEGER_VECTORS(T, 2, (ilogb(x[0]), ilogb(x[1])), (ldexp(x[0], n[0]), ldexp(x[1], n[1])))    \
    KFP_INTEGER_VECTORS(T, 3, (ilogb(x[0]), ilogb(x[1]), ilogb(x[2])),                               \
                        (ldexp(x[0], n[0]), ldexp(x[1], n[1]), ldexp(x[2], n[2])))                   \
    KFP_INTEGER_VECTORS(T, 4, (ilogb(x[0]), ilogb(x[1]), ilogb(x[2]), ilogb(x[3])),                  \
                        (ldexp(x[0], n[0]), ldexp(x[1], n[1]), ldexp(x[2], n[2]), ldexp(x[3], n[3])))
namespace precise { KFP_INTEGER_FUNCTIONS(float) }
namespace fast {
using precise::ilogb;
using precise::ldexp;
}  // namespace fast
using precise::ilogb;
using precise::ldexp;
KFP_INTEGER_FUNCTIONS(half)

}  // namespace metal

#undef KFP_MATH_MODE
#undef KFP_VECTORS_1
#undef KFP_VECTORS_2
#undef KFP_VECTORS_3
#undef KFP_MODAL
#undef KFP_MODAL_FLOAT
#undef KFP_EXACT
#undef KFP_X
#undef KFP_XY
#undef KFP_XYZ
#undef KFP_ARGUMENTS_1
#undef KFP_ARGUMENTS_2
#undef KFP_MODAL_1
#undef KFP_MODAL_2
#undef KFP_EXACT_1
#undef KFP_EXACT_2
#undef KFP_EXACT_3
#undef KFP_STORING_VECTORS
#undef KFP_INTEGER_VECTORS
#undef KFP_INTEGER_FUNCTIONS

#pragma float_control(pop)

#endif
