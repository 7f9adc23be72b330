// How the library declares a function for all the types that it takes: one plain overload per scalar type, so that a
// call with mixed scalars is as ambiguous as with Apple's headers, and one template for vectors, which scalars may be
// mixed with. The template keeps overload resolution fast: a scalar could convert to every one of 36 vector types.
#ifndef KFP_SIGNATURES_H
#define KFP_SIGNATURES_H

#include "packed.h"
#include "vector.h"

namespace __kfp {

constexpr constant int booleans = 1, integers = 2, floats = 4, any_element = 7;

template <class T>
KFP_CONSTEXPR int element_kind() {
    return __is_same(T, bool) ? booleans : __is_integral(T) ? integers : floats;
}

// The unpacked vector type of a vector argument, void for anything else.
template <class A> struct vector_argument { typedef void type; static constexpr constant int kind = 0; };
template <class T, int N> struct vector_argument<vec<T, N>> {
    typedef vec<T, N> type;
    static constexpr constant int kind = element_kind<T>();
};
template <class T, int N> struct vector_argument<packed_vec<T, N>> : vector_argument<vec<T, N>> {};

template <class... A> struct first_vector : vector_argument<void> {};
template <class A, class... B>
struct first_vector<A, B...>
    : metal::conditional_t<vector_argument<A>::kind != 0, vector_argument<A>, first_vector<B...>> {};

template <bool accepted, class V> struct vector_if {};
template <class V> struct vector_if<true, V> { typedef V type; };

// The vector type that a call with arguments A... computes in, if its elements are of these kinds; otherwise no type.
template <int kinds, class... A>
using vector_of = typename vector_if<(first_vector<A...>::kind & kinds) != 0 &&
                                     (__is_convertible(A, typename first_vector<A...>::type) && ...),
                                     typename first_vector<A...>::type>::type;

template <class V> struct element;
template <class T, int N> struct element<vec<T, N>> { typedef T type; };
template <class V> using element_of = typename element<V>::type;

template <class V> struct truth;
template <class T, int N> struct truth<vec<T, N>> { typedef vec<bool, N> type; };
template <class V> using truth_of = typename truth<V>::type;

template <class V, class T> struct with_element;
template <class U, int N, class T> struct with_element<vec<U, N>, T> { typedef vec<T, N> type; };

template <class V> struct length_of;
template <class T, int N> struct length_of<vec<T, N>> { static constexpr constant int value = N; };

#define KFP_FOR_INTEGERS(M, ...) \
    M(char, __VA_ARGS__) M(uchar, __VA_ARGS__) M(short, __VA_ARGS__) M(ushort, __VA_ARGS__) \
    M(int, __VA_ARGS__) M(uint, __VA_ARGS__) M(long, __VA_ARGS__) M(ulong, __VA_ARGS__)
#define KFP_FOR_FLOATS(M, ...) M(float, __VA_ARGS__) M(half, __VA_ARGS__) M(bfloat, __VA_ARGS__)

// KFP_LIFT_n(name, implementation, kinds): name of n arguments on vectors, by an implementation on compiler vectors.
#define KFP_LIFT_1(name, implementation, kinds) \
    template <class A> KFP_CONSTEXPR __kfp::vector_of<kinds, A> name(A a_) { \
        const __kfp::vector_of<kinds, A> a(a_); \
        return {__kfp::raw(), implementation(a.__v)}; \
    }
#define KFP_LIFT_2(name, implementation, kinds) \
    template <class A, class B> KFP_CONSTEXPR __kfp::vector_of<kinds, A, B> name(A a_, B b_) { \
        const __kfp::vector_of<kinds, A, B> a(a_), b(b_); \
        return {__kfp::raw(), implementation(a.__v, b.__v)}; \
    }
#define KFP_LIFT_3(name, implementation, kinds) \
    template <class A, class B, class C> KFP_CONSTEXPR __kfp::vector_of<kinds, A, B, C> name(A a_, B b_, C c_) { \
        const __kfp::vector_of<kinds, A, B, C> a(a_), b(b_), c(c_); \
        return {__kfp::raw(), implementation(a.__v, b.__v, c.__v)}; \
    }

#define KFP_SCALAR_1(T, name, implementation) KFP_CONSTEXPR T name(T a) { return (T)implementation(a); }
#define KFP_SCALAR_2(T, name, implementation) KFP_CONSTEXPR T name(T a, T b) { return (T)implementation(a, b); }
#define KFP_SCALAR_3(T, name, implementation) KFP_CONSTEXPR T name(T a, T b, T c) { return (T)implementation(a, b, c); }

}  // namespace __kfp

namespace metal {
template <class T> struct is_vector : bool_constant<__kfp::vector_argument<__kfp::plain<T>>::kind != 0> {};
template <class T> constexpr constant bool is_vector_v = is_vector<T>::value;
}  // namespace metal

#endif
