// Elementwise operators as hidden friends: plain functions of one vector type each, so that a scalar operand splats and
// a vector of another type does not convert, as with Metal's own vectors.
#ifndef KFP_VECTOR_OPERATORS_H
#define KFP_VECTOR_OPERATORS_H

#include "address_spaces.h"
#include "type_traits.h"

namespace __kfp {

template <class T, int N> struct vec;

// Selects a vector's constructor from a compiler vector, which a scalar could otherwise reach by splatting.
struct raw {};

#define KFP_COMPARISON(op) \
    friend KFP_CONSTEXPR vec<bool, N> operator op(vec<T, N> a, vec<T, N> b) { \
        typedef decltype(vec<bool, N>::__v) truth; \
        return {raw(), __builtin_convertvector(a.__v op b.__v, truth) & (truth)(1)}; \
    }
#define KFP_BINARY(op) \
    friend KFP_CONSTEXPR vec<T, N> operator op(vec<T, N> a, vec<T, N> b) { return {raw(), a.__v op b.__v}; } \
    friend KFP_INLINE __generic vec<T, N>& operator op##=(__generic vec<T, N>& a, vec<T, N> b) { \
        a.__v = a.__v op b.__v; \
        return a; \
    }

template <class T, int N>
struct equality_operators {
    KFP_COMPARISON(==)
    KFP_COMPARISON(!=)
};

template <class T, int N>
struct arithmetic_operators : equality_operators<T, N> {
    KFP_COMPARISON(<)
    KFP_COMPARISON(>)
    KFP_COMPARISON(<=)
    KFP_COMPARISON(>=)
    KFP_BINARY(+)
    KFP_BINARY(-)
    KFP_BINARY(*)
    KFP_BINARY(/)
    friend KFP_CONSTEXPR vec<T, N> operator+(vec<T, N> a) { return a; }
    friend KFP_CONSTEXPR vec<T, N> operator-(vec<T, N> a) { return {raw(), -a.__v}; }
    friend KFP_INLINE __generic vec<T, N>& operator++(__generic vec<T, N>& a) { return a += vec<T, N>((T)1); }
    friend KFP_INLINE __generic vec<T, N>& operator--(__generic vec<T, N>& a) { return a -= vec<T, N>((T)1); }
    friend KFP_INLINE vec<T, N> operator++(__generic vec<T, N>& a, int) {
        vec<T, N> before = a;
        a += vec<T, N>((T)1);
        return before;
    }
    friend KFP_INLINE vec<T, N> operator--(__generic vec<T, N>& a, int) {
        vec<T, N> before = a;
        a -= vec<T, N>((T)1);
        return before;
    }
    friend KFP_CONSTEXPR vec<bool, N> operator!(vec<T, N> a) { return a == vec<T, N>((T)0); }
    friend KFP_CONSTEXPR vec<bool, N> operator&&(vec<T, N> a, vec<T, N> b) {
        return vec<bool, N>(a) & vec<bool, N>(b);
    }
    friend KFP_CONSTEXPR vec<bool, N> operator||(vec<T, N> a, vec<T, N> b) {
        return vec<bool, N>(a) | vec<bool, N>(b);
    }
};

#define KFP_SHIFT(op) \
    KFP_BINARY(op) \
    template <class U> friend KFP_CONSTEXPR vec<T, N> operator op(vec<T, N> a, vec<U, N> b) { \
        return a op vec<T, N>(b); \
    } \
    template <class U> friend KFP_INLINE __generic vec<T, N>& operator op##=(__generic vec<T, N>& a, vec<U, N> b) { \
        return a op##= vec<T, N>(b); \
    }

template <class T, int N>
struct integer_operators : arithmetic_operators<T, N> {
    KFP_BINARY(%)
    KFP_BINARY(&)
    KFP_BINARY(|)
    KFP_BINARY(^)
    KFP_SHIFT(<<)
    KFP_SHIFT(>>)
    friend KFP_CONSTEXPR vec<T, N> operator~(vec<T, N> a) { return {raw(), ~a.__v}; }
};
#undef KFP_SHIFT

template <class T, int N>
struct boolean_operators : equality_operators<T, N> {
    KFP_BINARY(&)
    KFP_BINARY(|)
    KFP_BINARY(^)
    friend KFP_CONSTEXPR vec<T, N> operator!(vec<T, N> a) { return a ^ vec<T, N>(true); }
    friend KFP_CONSTEXPR vec<T, N> operator&&(vec<T, N> a, vec<T, N> b) { return a & b; }
    friend KFP_CONSTEXPR vec<T, N> operator||(vec<T, N> a, vec<T, N> b) { return a | b; }
};
#undef KFP_BINARY
#undef KFP_COMPARISON

template <class T, int N>
using operators = metal::conditional_t<__is_same(T, bool), boolean_operators<T, N>,
                                       metal::conditional_t<__is_integral(T), integer_operators<T, N>,
                                                            arithmetic_operators<T, N>>>;

}  // namespace __kfp

#endif
