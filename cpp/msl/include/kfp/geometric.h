// Metal's geometric functions, for vectors of float and half.
#ifndef KFP_GEOMETRIC_H
#define KFP_GEOMETRIC_H

#include "common.h"
#include "signatures.h"

namespace __kfp {

// Sums of half and bfloat are kept in float: more exact, and without a conversion per operation.
template <class T, int N> KFP_CONSTEXPR float dot_product(const vec<T, N> a, const vec<T, N> b) {
    float sum = (float)a[0] * (float)b[0] + (float)a[1] * (float)b[1];
    if constexpr (N > 2) sum += (float)a[2] * (float)b[2];
    if constexpr (N > 3) sum += (float)a[3] * (float)b[3];
    return sum;
}

}  // namespace __kfp

namespace metal {

template <class A, class B>
KFP_CONSTEXPR __kfp::element_of<__kfp::vector_of<__kfp::floats, A, B>> dot(A a, B b) {
    typedef __kfp::vector_of<__kfp::floats, A, B> V;
    return (__kfp::element_of<V>)__kfp::dot_product(V(a), V(b));
}

template <class A>
KFP_CONSTEXPR __kfp::element_of<__kfp::vector_of<__kfp::floats, A>> length_squared(A a) { return dot(a, a); }
template <class A, class B>
KFP_CONSTEXPR __kfp::element_of<__kfp::vector_of<__kfp::floats, A, B>> distance_squared(A a, B b) {
    typedef __kfp::vector_of<__kfp::floats, A, B> V;
    return length_squared(V(a) - V(b));
}

#define KFP_LENGTHS \
    template <class A> \
    KFP_INLINE __kfp::element_of<__kfp::vector_of<__kfp::floats, A>> length(A a_) { \
        const __kfp::vector_of<__kfp::floats, A> a(a_); \
        return (__kfp::element_of<__kfp::vector_of<__kfp::floats, A>>)__builtin_elementwise_sqrt( \
            __kfp::dot_product(a, a)); \
    } \
    template <class A, class B> \
    KFP_INLINE __kfp::element_of<__kfp::vector_of<__kfp::floats, A, B>> distance(A a, B b) { \
        typedef __kfp::vector_of<__kfp::floats, A, B> V; \
        return length(V(a) - V(b)); \
    } \
    template <class A> \
    KFP_INLINE __kfp::vector_of<__kfp::floats, A> normalize(A a_) { \
        typedef __kfp::vector_of<__kfp::floats, A> V; \
        const V a(a_); \
        return a * (__kfp::element_of<V>)(1.0f / __builtin_elementwise_sqrt(__kfp::dot_product(a, a))); \
    }
KFP_LENGTHS
namespace fast { KFP_LENGTHS }
namespace precise { KFP_LENGTHS }
#undef KFP_LENGTHS

template <class A, class B, class V = __kfp::vector_of<__kfp::floats, A, B>>
KFP_CONSTEXPR enable_if_t<__kfp::length_of<V>::value == 3, V> cross(A a_, B b_) {
    const V a(a_), b(b_);
    return a.yzx * b.zxy - a.zxy * b.yzx;
}

template <class A, class B, class C>
KFP_CONSTEXPR __kfp::vector_of<__kfp::floats, A, B, C> faceforward(A n, B incident, C reference) {
    typedef __kfp::vector_of<__kfp::floats, A, B, C> V;
    return __kfp::dot_product(V(reference), V(incident)) < 0.0f ? V(n) : -V(n);
}

template <class A, class B>
KFP_CONSTEXPR __kfp::vector_of<__kfp::floats, A, B> reflect(A incident, B n) {
    typedef __kfp::vector_of<__kfp::floats, A, B> V;
    return V(incident) - V(n) * (__kfp::element_of<V>)(2.0f * __kfp::dot_product(V(n), V(incident)));
}

template <class A, class B>
KFP_INLINE __kfp::vector_of<__kfp::floats, A, B> refract(
    A incident, B n, __kfp::element_of<__kfp::vector_of<__kfp::floats, A, B>> eta) {
    typedef __kfp::vector_of<__kfp::floats, A, B> V;
    typedef __kfp::element_of<V> T;
    const float cosine = __kfp::dot_product(V(n), V(incident)), ratio = (float)eta;
    const float k = 1.0f - ratio * ratio * (1.0f - cosine * cosine);
    if (k < 0.0f) return V((T)0.0f);
    return V(incident) * eta - V(n) * (T)(ratio * cosine + __builtin_elementwise_sqrt(k));
}

}  // namespace metal

#endif
