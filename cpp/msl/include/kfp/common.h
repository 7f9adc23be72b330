// Metal's common functions.
#ifndef KFP_COMMON_H
#define KFP_COMMON_H

#include "relational.h"
#include "signatures.h"

namespace __kfp {

// As one instruction each: a NaN gives the second operand.
template <class T> KFP_CONSTEXPR T lesser(T a, T b) { return a < b ? a : b; }
template <class T> KFP_CONSTEXPR T greater(T a, T b) { return a > b ? a : b; }
template <class T, int N> KFP_CONSTEXPR vec<T, N> lesser(vec<T, N> a, vec<T, N> b) { return chosen(b, a, a < b); }
template <class T, int N> KFP_CONSTEXPR vec<T, N> greater(vec<T, N> a, vec<T, N> b) { return chosen(b, a, a > b); }

template <class V> KFP_CONSTEXPR V float_clamp(V x, V low, V high) { return lesser(greater(x, low), high); }
template <class V> KFP_CONSTEXPR V float_saturate(V x) { return float_clamp(x, V(0.0f), V(1.0f)); }
template <class V> KFP_CONSTEXPR V float_mix(V x, V y, V a) { return V(x + (y - x) * a); }
template <class V> KFP_CONSTEXPR V float_smoothstep(V low, V high, V x) {
    const V t = float_saturate(V((x - low) / (high - low)));
    return V(t * t * (V(3.0f) - V(2.0f) * t));
}
template <class V> KFP_CONSTEXPR V float_step(V edge, V x) { return metal::select(V(1.0f), V(0.0f), x < edge); }
// Zeros keep their sign, and a NaN gives zero.
template <class V> KFP_CONSTEXPR V float_sign(V x) {
    const V of_zero = metal::select(x, V(0.0f), metal::isnan(x));
    return metal::select(metal::select(of_zero, V(-1.0f), x < V(0.0f)), V(1.0f), x > V(0.0f));
}

}  // namespace __kfp

namespace metal {

#define KFP_COMMON_1(name) \
    KFP_FOR_FLOATS(KFP_SCALAR_1, name, __kfp::float_##name) \
    template <class A> KFP_CONSTEXPR __kfp::vector_of<__kfp::floats, A> name(A a) { \
        typedef __kfp::vector_of<__kfp::floats, A> V; \
        return __kfp::float_##name(V(a)); \
    }
#define KFP_COMMON_2(name) \
    KFP_FOR_FLOATS(KFP_SCALAR_2, name, __kfp::float_##name) \
    template <class A, class B> KFP_CONSTEXPR __kfp::vector_of<__kfp::floats, A, B> name(A a, B b) { \
        typedef __kfp::vector_of<__kfp::floats, A, B> V; \
        return __kfp::float_##name(V(a), V(b)); \
    }
#define KFP_COMMON_3(name) \
    KFP_FOR_FLOATS(KFP_SCALAR_3, name, __kfp::float_##name) \
    template <class A, class B, class C> KFP_CONSTEXPR __kfp::vector_of<__kfp::floats, A, B, C> name(A a, B b, C c) { \
        typedef __kfp::vector_of<__kfp::floats, A, B, C> V; \
        return __kfp::float_##name(V(a), V(b), V(c)); \
    }
KFP_COMMON_1(saturate)
KFP_COMMON_1(sign)
KFP_COMMON_2(step)
KFP_COMMON_3(clamp)
KFP_COMMON_3(mix)
KFP_COMMON_3(smoothstep)
#undef KFP_COMMON_1
#undef KFP_COMMON_2
#undef KFP_COMMON_3

}  // namespace metal

#endif
