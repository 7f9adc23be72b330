// The elementwise operators: plain functions of one vector type each, so that a scalar operand splats and a vector of
// another type does not convert, as with Metal's own vectors. Every vector type has a namespace for its operators,
// found by argument-dependent lookup through a base class: a kernel that adds float4 then reads one operator+ from the
// precompiled header, not those of all 36 vector types.
#ifndef KFP_VECTOR_OPERATORS_H
#define KFP_VECTOR_OPERATORS_H

#include "vector.h"

#define KFP_COMPARISON(V, B, op) \
    KFP_CONSTEXPR B operator op(V a, V b) { \
        typedef decltype(B::__v) truth; \
        return {raw(), __builtin_convertvector(a.__v op b.__v, truth) & (truth)(1)}; \
    }
#define KFP_BINARY(V, op) \
    KFP_CONSTEXPR V operator op(V a, V b) { return {raw(), a.__v op b.__v}; } \
    KFP_INLINE __generic V& operator op##=(__generic V& a, V b) { \
        a.__v = a.__v op b.__v; \
        return a; \
    }
#define KFP_STEP(V, op) \
    KFP_INLINE __generic V& operator op##op(__generic V& a) { \
        a.__v = a.__v op decltype(V::__v)(1); \
        return a; \
    } \
    KFP_INLINE V operator op##op(__generic V& a, int) { \
        const V before = a; \
        a.__v = a.__v op decltype(V::__v)(1); \
        return before; \
    }
// A scalar of floating-point type does not turn into an integer without being asked to.
#define KFP_NO_FLOATING_OPERAND(V, op) \
    template <class S> metal::enable_if_t<__is_floating_point(S), V> operator op(V, S) = delete; \
    template <class S> metal::enable_if_t<__is_floating_point(S), V> operator op(S, V) = delete;
#define KFP_NO_FLOATING_OPERAND_OR_ASSIGNMENT(V, op) \
    KFP_NO_FLOATING_OPERAND(V, op) \
    template <class S> metal::enable_if_t<__is_floating_point(S)> operator op##=(__generic V&, S) = delete;

#define KFP_EQUALITY_OPERATORS(V, B) KFP_COMPARISON(V, B, ==) KFP_COMPARISON(V, B, !=)
#define KFP_ARITHMETIC_OPERATORS(V, B) \
    KFP_EQUALITY_OPERATORS(V, B) \
    KFP_COMPARISON(V, B, <) KFP_COMPARISON(V, B, >) KFP_COMPARISON(V, B, <=) KFP_COMPARISON(V, B, >=) \
    KFP_BINARY(V, +) KFP_BINARY(V, -) KFP_BINARY(V, *) KFP_BINARY(V, /) KFP_STEP(V, +) KFP_STEP(V, -) \
    KFP_CONSTEXPR V operator+(V a) { return a; } \
    KFP_CONSTEXPR V operator-(V a) { return {raw(), -a.__v}; } \
    KFP_CONSTEXPR B operator!(V a) { return a == V(0); } \
    KFP_CONSTEXPR B operator&&(V a, V b) { return B(a) & B(b); } \
    KFP_CONSTEXPR B operator||(V a, V b) { return B(a) | B(b); }
#define KFP_INTEGER_OPERATORS(V, B) \
    KFP_ARITHMETIC_OPERATORS(V, B) \
    KFP_BINARY(V, %) KFP_BINARY(V, &) KFP_BINARY(V, |) KFP_BINARY(V, ^) KFP_BINARY(V, <<) KFP_BINARY(V, >>) \
    KFP_CONSTEXPR V operator~(V a) { return {raw(), ~a.__v}; } \
    KFP_NO_FLOATING_OPERAND_OR_ASSIGNMENT(V, +) KFP_NO_FLOATING_OPERAND_OR_ASSIGNMENT(V, -) \
    KFP_NO_FLOATING_OPERAND_OR_ASSIGNMENT(V, *) KFP_NO_FLOATING_OPERAND_OR_ASSIGNMENT(V, /) \
    KFP_NO_FLOATING_OPERAND(V, <) KFP_NO_FLOATING_OPERAND(V, >) KFP_NO_FLOATING_OPERAND(V, <=) \
    KFP_NO_FLOATING_OPERAND(V, >=) KFP_NO_FLOATING_OPERAND(V, ==) KFP_NO_FLOATING_OPERAND(V, !=)
#define KFP_BOOLEAN_OPERATORS(V, B) \
    KFP_EQUALITY_OPERATORS(V, B) KFP_BINARY(V, &) KFP_BINARY(V, |) KFP_BINARY(V, ^) \
    KFP_CONSTEXPR B operator!(V a) { return a ^ V(true); } \
    KFP_CONSTEXPR B operator&&(V a, V b) { return a & b; } \
    KFP_CONSTEXPR B operator||(V a, V b) { return a | b; }

namespace __kfp {

#define KFP_OPERATORS(T, kind) \
    namespace operators_of_##T##2 { KFP_##kind##_OPERATORS(T##2, bool2) } \
    namespace operators_of_##T##3 { KFP_##kind##_OPERATORS(T##3, bool3) } \
    namespace operators_of_##T##4 { KFP_##kind##_OPERATORS(T##4, bool4) }
KFP_OPERATORS(bool, BOOLEAN)
KFP_OPERATORS(char, INTEGER)
KFP_OPERATORS(uchar, INTEGER)
KFP_OPERATORS(short, INTEGER)
KFP_OPERATORS(ushort, INTEGER)
KFP_OPERATORS(int, INTEGER)
KFP_OPERATORS(uint, INTEGER)
KFP_OPERATORS(long, INTEGER)
KFP_OPERATORS(ulong, INTEGER)
KFP_OPERATORS(half, ARITHMETIC)
KFP_OPERATORS(float, ARITHMETIC)
KFP_OPERATORS(bfloat, ARITHMETIC)
#undef KFP_OPERATORS

// A shift may have a count of another integer type.
#define KFP_SHIFT(op) \
    template <class T, class U, int N> KFP_CONSTEXPR vec<T, N> operator op(vec<T, N> a, vec<U, N> b) { \
        return a op vec<T, N>(b); \
    } \
    template <class V, class U, int N> \
    KFP_INLINE metal::enable_if_t<sizeof(plain<V>::__v) == sizeof(V), V&> operator op##=(V& a, vec<U, N> b) { \
        a = plain<V>(a) op plain<V>(b); \
        return a; \
    }
KFP_SHIFT(<<)
KFP_SHIFT(>>)
#undef KFP_SHIFT

}  // namespace __kfp

#undef KFP_COMPARISON
#undef KFP_BINARY
#undef KFP_STEP
#undef KFP_NO_FLOATING_OPERAND
#undef KFP_NO_FLOATING_OPERAND_OR_ASSIGNMENT
#undef KFP_EQUALITY_OPERATORS
#undef KFP_ARITHMETIC_OPERATORS
#undef KFP_INTEGER_OPERATORS
#undef KFP_BOOLEAN_OPERATORS

#endif
