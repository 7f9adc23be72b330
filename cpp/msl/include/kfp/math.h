// The math library's overload sets. Scalars have one plain overload for float and one for half, so that calls that mix
// types are resolved (or are ambiguous) as with Apple's headers; vectors share a template (see signatures.h).
#ifndef KFP_MATH_H
#define KFP_MATH_H

#include "common.h"
#include "math_exact.h"
#include "signatures.h"

#pragma float_control(precise, on, push)
#pragma clang fp contract(on)

namespace __kfp {

template <class V> struct float_vector_if {};
template <int N> struct float_vector_if<vec<float, N>> { typedef vec<float, N> type; };

// As vector_of, for the fast and precise namespaces, whose functions are of float alone.
template <class... A> using float_vector_of = typename float_vector_if<vector_of<floats, A...>>::type;
template <class... A> using any_float_vector_of = vector_of<floats, A...>;

// Result<V> made of f applied to the components of its arguments.
template <class R, int N, class F, class... V> KFP_INLINE R by_component(F f, const V... v) {
    if constexpr (N == 2) return R(f(v[0]...), f(v[1]...));
    else if constexpr (N == 3) return R(f(v[0]...), f(v[1]...), f(v[2]...));
    else return R(f(v[0]...), f(v[1]...), f(v[2]...), f(v[3]...));
}

}  // namespace __kfp

#ifdef __KFP_PRECISE_MATH__
#define KFP_MATH_MODE precise
#else
#define KFP_MATH_MODE fast
#endif

#define KFP_X(T) T x
#define KFP_XY(T) T x, T y
#define KFP_XYZ(T) T x, T y, T z
#define KFP_APPLIED(f) [](auto... x) __attribute__((always_inline)) { return f(x...); }

#define KFP_VECTOR_1(vector_of, f)                                                                   \
    template <class A> KFP_INLINE __kfp::vector_of<A> f(A x) {                                       \
        typedef __kfp::vector_of<A> V;                                                               \
        return __kfp::by_component<V, __kfp::length_of<V>::value>(KFP_APPLIED(f), V(x));             \
    }
#define KFP_VECTOR_2(vector_of, f)                                                                   \
    template <class A, class B> KFP_INLINE __kfp::vector_of<A, B> f(A x, B y) {                      \
        typedef __kfp::vector_of<A, B> V;                                                            \
        return __kfp::by_component<V, __kfp::length_of<V>::value>(KFP_APPLIED(f), V(x), V(y));       \
    }
#define KFP_VECTOR_3(vector_of, f)                                                                   \
    template <class A, class B, class C> KFP_INLINE __kfp::vector_of<A, B, C> f(A x, B y, C z) {     \
        typedef __kfp::vector_of<A, B, C> V;                                                         \
        return __kfp::by_component<V, __kfp::length_of<V>::value>(KFP_APPLIED(f), V(x), V(y), V(z)); \
    }

// A function with a fast and a precise variant; half is computed as float in every mode.
#define KFP_MODAL(count, f, parameters, arguments, as_float)                                         \
    namespace precise {                                                                              \
    KFP_INLINE float f(parameters(float)) { return ::__kfp::precise::f arguments; }                  \
    KFP_VECTOR_##count(float_vector_of, f)                                                           \
    }                                                                                                \
    namespace fast {                                                                                 \
    KFP_INLINE float f(parameters(float)) { return ::__kfp::fast::f arguments; }                     \
    KFP_VECTOR_##count(float_vector_of, f)                                                           \
    }                                                                                                \
    KFP_INLINE float f(parameters(float)) { return ::__kfp::KFP_MATH_MODE::f arguments; }            \
    KFP_INLINE half f(parameters(half)) { return half(::__kfp::fast::f as_float); }                  \
    KFP_VECTOR_##count(any_float_vector_of, f)
#define KFP_MODAL_1(f) KFP_MODAL(1, f, KFP_X, (x), (float(x)))
#define KFP_MODAL_2(f) KFP_MODAL(2, f, KFP_XY, (x, y), (float(x), float(y)))

// A function with the same result in all modes, by one expression of x, y, z for both types.
#define KFP_EXACT(count, f, parameters, ...)                                                         \
    namespace precise {                                                                              \
    KFP_INLINE float f(parameters(float)) { return float(__VA_ARGS__); }                             \
    KFP_VECTOR_##count(float_vector_of, f)                                                           \
    }                                                                                                \
    namespace fast { using precise::f; }                                                             \
    KFP_INLINE float f(parameters(float)) { return float(__VA_ARGS__); }                             \
    KFP_INLINE half f(parameters(half)) { return half(__VA_ARGS__); }                                \
    KFP_VECTOR_##count(any_float_vector_of, f)
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
KFP_EXACT_1(ceil, __builtin_elementwise_ceil(float(x)))
KFP_EXACT_1(fabs, __builtin_elementwise_abs(x))
KFP_EXACT_1(floor, __builtin_elementwise_floor(float(x)))
KFP_EXACT_1(fract, __kfp::fract(x))
KFP_EXACT_1(rint, __builtin_elementwise_rint(float(x)))
KFP_EXACT_1(round, __builtin_elementwise_round(float(x)))
KFP_EXACT_1(sqrt, __builtin_elementwise_sqrt(float(x)))
KFP_EXACT_1(trunc, __builtin_elementwise_trunc(float(x)))
KFP_EXACT_2(copysign, __builtin_elementwise_copysign(x, y))
KFP_EXACT_2(divide, x / y)
KFP_EXACT_2(fdim, __kfp::fdim(float(x), float(y)))
KFP_EXACT_2(fmax, __kfp::greatest(x, y))
KFP_EXACT_2(fmin, __kfp::least(x, y))
KFP_EXACT_2(max, __kfp::greatest(x, y))
KFP_EXACT_2(min, __kfp::least(x, y))
KFP_EXACT_2(nextafter, __kfp::nextafter(x, y))
KFP_EXACT_3(fma, __builtin_elementwise_fma(float(x), float(y), float(z)))
KFP_EXACT_3(fmax3, __kfp::greatest(x, __kfp::greatest(y, z)))
KFP_EXACT_3(fmedian3, __kfp::median(x, y, z))
KFP_EXACT_3(fmin3, __kfp::least(x, __kfp::least(y, z)))
KFP_EXACT_3(max3, __kfp::greatest(x, __kfp::greatest(y, z)))
KFP_EXACT_3(median3, __kfp::median(x, y, z))
KFP_EXACT_3(min3, __kfp::least(x, __kfp::least(y, z)))

// The names that integers have too, for bfloat, which would convert to all of them alike.
KFP_INLINE bfloat abs(bfloat x) { return bfloat(__builtin_elementwise_abs(float(x))); }
KFP_INLINE bfloat max(bfloat x, bfloat y) { return bfloat(__kfp::greatest(float(x), float(y))); }
KFP_INLINE bfloat min(bfloat x, bfloat y) { return bfloat(__kfp::least(float(x), float(y))); }
KFP_INLINE bfloat max3(bfloat x, bfloat y, bfloat z) { return max(x, max(y, z)); }
KFP_INLINE bfloat min3(bfloat x, bfloat y, bfloat z) { return min(x, min(y, z)); }

// sincos, modf and frexp return one result and store another through a reference to thread memory.
#define KFP_STORING_VECTOR(vector_of, S, f)                                                          \
    template <class A> KFP_INLINE __kfp::vector_of<A> f(A x, __private S& stored) {                  \
        typedef __kfp::vector_of<A> V;                                                               \
        const V v(x);                                                                                \
        V result;                                                                                    \
        for (uint i = 0; i < __kfp::length_of<V>::value; ++i) {                                      \
            __kfp::element_of<S> part;                                                               \
            result[i] = f(v[i], part);                                                               \
            stored[i] = part;                                                                        \
        }                                                                                            \
        return result;                                                                               \
    }
#define KFP_SAME_VECTOR(vector_of) __kfp::vector_of<A>
#define KFP_INT_VECTOR(vector_of) typename __kfp::with_element<__kfp::vector_of<A>, int>::type

namespace precise {
KFP_INLINE float sincos(float x, __private float& cosine) {
    const __kfp::SinCosDouble both = __kfp::precise::sincos_of(x);
    cosine = float(both.cos);
    return float(both.sin);
}
KFP_STORING_VECTOR(float_vector_of, KFP_SAME_VECTOR(float_vector_of), sincos)
KFP_INLINE float modf(float x, __private float& whole) { return __kfp::modf(x, whole); }
KFP_STORING_VECTOR(float_vector_of, KFP_SAME_VECTOR(float_vector_of), modf)
KFP_INLINE float frexp(float x, __private int& exponent) { return __kfp::frexp(x, exponent); }
KFP_STORING_VECTOR(float_vector_of, KFP_INT_VECTOR(float_vector_of), frexp)
}  // namespace precise

namespace fast {
KFP_INLINE float sincos(float x, __private float& cosine) {
    const __kfp::SinCosFloat both = __kfp::fast::sincos_of(x);
    cosine = both.cos;
    return both.sin;
}
KFP_STORING_VECTOR(float_vector_of, KFP_SAME_VECTOR(float_vector_of), sincos)
using precise::frexp;
using precise::modf;
}  // namespace fast

KFP_INLINE float sincos(float x, __private float& cosine) { return KFP_MATH_MODE::sincos(x, cosine); }
KFP_INLINE half sincos(half x, __private half& cosine) {
    const __kfp::SinCosFloat both = __kfp::fast::sincos_of(x);
    cosine = half(both.cos);
    return half(both.sin);
}
KFP_STORING_VECTOR(any_float_vector_of, KFP_SAME_VECTOR(any_float_vector_of), sincos)

KFP_INLINE float modf(float x, __private float& whole) { return __kfp::modf(x, whole); }
KFP_INLINE half modf(half x, __private half& whole) {
    float as_float;
    const float rest = __kfp::modf(x, as_float);
    whole = half(as_float);
    return half(rest);
}
KFP_STORING_VECTOR(any_float_vector_of, KFP_SAME_VECTOR(any_float_vector_of), modf)

KFP_INLINE float frexp(float x, __private int& exponent) { return __kfp::frexp(x, exponent); }
KFP_INLINE half frexp(half x, __private int& exponent) { return half(__kfp::frexp(x, exponent)); }
KFP_STORING_VECTOR(any_float_vector_of, KFP_INT_VECTOR(any_float_vector_of), frexp)

KFP_INLINE int ilogb(float x) { return __kfp::ilogb(x); }
KFP_INLINE int ilogb(half x) { return __kfp::ilogb(x); }
template <class A> KFP_INLINE KFP_INT_VECTOR(any_float_vector_of) ilogb(A x) {
    typedef __kfp::any_float_vector_of<A> V;
    typedef KFP_INT_VECTOR(any_float_vector_of) Result;
    return __kfp::by_component<Result, __kfp::length_of<V>::value>(KFP_APPLIED(ilogb), V(x));
}

KFP_INLINE float ldexp(float x, int n) { return __kfp::ldexp(x, n); }
KFP_INLINE half ldexp(half x, int n) { return half(__kfp::ldexp(x, n)); }
template <class A> KFP_INLINE __kfp::any_float_vector_of<A> ldexp(A x, KFP_INT_VECTOR(any_float_vector_of) n) {
    typedef __kfp::any_float_vector_of<A> V;
    return __kfp::by_component<V, __kfp::length_of<V>::value>(KFP_APPLIED(ldexp), V(x), n);
}

namespace precise {
using metal::clamp;
using metal::ilogb;
using metal::ldexp;
using metal::mix;
using metal::saturate;
using metal::sign;
using metal::smoothstep;
using metal::step;
}  // namespace precise
namespace fast {
using metal::clamp;
using metal::ilogb;
using metal::ldexp;
using metal::mix;
using metal::saturate;
using metal::sign;
using metal::smoothstep;
using metal::step;
}  // namespace fast

}  // namespace metal

#undef KFP_MATH_MODE
#undef KFP_X
#undef KFP_XY
#undef KFP_XYZ
#undef KFP_APPLIED
#undef KFP_VECTOR_1
#undef KFP_VECTOR_2
#undef KFP_VECTOR_3
#undef KFP_MODAL
#undef KFP_MODAL_1
#undef KFP_MODAL_2
#undef KFP_EXACT
#undef KFP_EXACT_1
#undef KFP_EXACT_2
#undef KFP_EXACT_3
#undef KFP_STORING_VECTOR
#undef KFP_SAME_VECTOR
#undef KFP_INT_VECTOR

#pragma float_control(pop)

#endif
