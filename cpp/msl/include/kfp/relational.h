// Metal's relational functions. The tests of floating-point classes look at bits, which no fast-math flag reasons away.
#ifndef KFP_RELATIONAL_H
#define KFP_RELATIONAL_H

#include "as_type.h"
#include "signatures.h"

namespace __kfp {

template <class T> struct float_layout;
template <> struct float_layout<float> {
    typedef uint bits;
    static constexpr constant bits infinite = 0x7f800000, all_but_sign = 0x7fffffff, least_normal = 0x00800000;
};
template <> struct float_layout<half> {
    typedef ushort bits;
    static constexpr constant bits infinite = 0x7c00, all_but_sign = 0x7fff, least_normal = 0x0400;
};
template <> struct float_layout<bfloat> {
    typedef ushort bits;
    static constexpr constant bits infinite = 0x7f80, all_but_sign = 0x7fff, least_normal = 0x0080;
};

template <int bytes> struct signed_of_size;
template <> struct signed_of_size<1> { typedef char type; };
template <> struct signed_of_size<2> { typedef short type; };
template <> struct signed_of_size<4> { typedef int type; };
template <> struct signed_of_size<8> { typedef long type; };

// Lane by lane b where `condition` holds, else a.
template <class T, int N>
KFP_CONSTEXPR vec<T, N> chosen(const vec<T, N> a, const vec<T, N> b, const vec<bool, N> condition) {
    if (__builtin_is_constant_evaluated()) {
        // The compiler does not evaluate a conditional of vectors.
        if constexpr (N == 2)
            return {condition[0] ? b[0] : a[0], condition[1] ? b[1] : a[1]};
        else if constexpr (N == 3)
            return {condition[0] ? b[0] : a[0], condition[1] ? b[1] : a[1], condition[2] ? b[2] : a[2]};
        else
            return {condition[0] ? b[0] : a[0], condition[1] ? b[1] : a[1],
                    condition[2] ? b[2] : a[2], condition[3] ? b[3] : a[3]};
    } else {
        typedef typename lanes<typename signed_of_size<sizeof(T)>::type, N>::type mask;
        return {raw(), __builtin_convertvector(condition.__v, mask) != (mask)(0) ? b.__v : a.__v};
    }
}

}  // namespace __kfp

namespace metal {

// In the test, `all` are the argument's bits, `magnitude` those below the sign, and `layout` is its float_layout.
#define KFP_CLASS_SCALAR(T, name, ...) \
    KFP_CONSTEXPR bool name(T a) { \
        typedef __kfp::float_layout<T> layout; \
        const layout::bits all = __builtin_bit_cast(layout::bits, a); \
        const layout::bits magnitude = all & layout::all_but_sign; \
        return __VA_ARGS__; \
    }
#define KFP_CLASS_FUNCTION(name, ...) \
    KFP_FOR_FLOATS(KFP_CLASS_SCALAR, name, __VA_ARGS__) \
    template <class A> \
    KFP_CONSTEXPR __kfp::truth_of<__kfp::vector_of<__kfp::floats, A>> name(A a_) { \
        typedef __kfp::vector_of<__kfp::floats, A> V; \
        typedef __kfp::float_layout<__kfp::element_of<V>> layout; \
        typedef typename __kfp::with_element<V, typename layout::bits>::type bits; \
        const bits all = as_type<bits>(V(a_)), magnitude = all & layout::all_but_sign; \
        return __VA_ARGS__; \
    }
KFP_CLASS_FUNCTION(isfinite, magnitude < layout::infinite)
KFP_CLASS_FUNCTION(isinf, magnitude == layout::infinite)
KFP_CLASS_FUNCTION(isnan, magnitude > layout::infinite)
KFP_CLASS_FUNCTION(isnormal, magnitude >= layout::least_normal && magnitude < layout::infinite)
KFP_CLASS_FUNCTION(signbit, all != magnitude)
#undef KFP_CLASS_FUNCTION
#undef KFP_CLASS_SCALAR

#define KFP_ORDER_SCALAR(T, ...) \
    KFP_CONSTEXPR bool isunordered(T a, T b) { return isnan(a) || isnan(b); } \
    KFP_CONSTEXPR bool isordered(T a, T b) { return !isunordered(a, b); }
KFP_FOR_FLOATS(KFP_ORDER_SCALAR)
#undef KFP_ORDER_SCALAR
template <class A, class B>
KFP_CONSTEXPR __kfp::truth_of<__kfp::vector_of<__kfp::floats, A, B>> isunordered(A a, B b) {
    typedef __kfp::vector_of<__kfp::floats, A, B> V;
    return isnan(V(a)) || isnan(V(b));
}
template <class A, class B>
KFP_CONSTEXPR __kfp::truth_of<__kfp::vector_of<__kfp::floats, A, B>> isordered(A a, B b) {
    return !isunordered(a, b);
}

KFP_CONSTEXPR bool all(bool a) { return a; }
KFP_CONSTEXPR bool any(bool a) { return a; }
#define KFP_QUANTIFIERS(N) \
    KFP_CONSTEXPR bool all(bool##N a) { return __builtin_reduce_and(a.__v) != 0; } \
    KFP_CONSTEXPR bool any(bool##N a) { return __builtin_reduce_or(a.__v) != 0; }
KFP_QUANTIFIERS(2)
KFP_QUANTIFIERS(3)
KFP_QUANTIFIERS(4)
#undef KFP_QUANTIFIERS

#define KFP_SELECT(T, ...) KFP_CONSTEXPR T select(T a, T b, bool condition) { return condition ? b : a; }
KFP_SELECT(bool)
KFP_FOR_INTEGERS(KFP_SELECT)
KFP_FOR_FLOATS(KFP_SELECT)
#undef KFP_SELECT
template <class A, class B>
KFP_CONSTEXPR __kfp::vector_of<__kfp::any_element, A, B> select(
    A a, B b, __kfp::truth_of<__kfp::vector_of<__kfp::any_element, A, B>> condition) {
    typedef __kfp::vector_of<__kfp::any_element, A, B> V;
    return __kfp::chosen(V(a), V(b), condition);
}

}  // namespace metal

#endif
