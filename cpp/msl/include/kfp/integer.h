// Metal's integer functions.
#ifndef KFP_INTEGER_H
#define KFP_INTEGER_H

#include "signatures.h"

namespace __kfp {

// The implementations take a scalar or a compiler vector: (V)1 splats, and operators and the elementwise builtins apply
// to both. Scalars narrower than int are promoted by the operators, hence the casts.

template <class V> struct lane_of { typedef V type; };
template <class T, int N> struct lane_of<T __attribute__((ext_vector_type(N)))> { typedef T type; };

template <class V> constexpr constant int width_of = 8 * sizeof(typename lane_of<V>::type);

// The integer types of twice the width, and unsigned, on scalars and on compiler vectors.
template <class T> struct wider;
template <> struct wider<char> { typedef short type; };
template <> struct wider<uchar> { typedef ushort type; };
template <> struct wider<short> { typedef int type; };
template <> struct wider<ushort> { typedef uint type; };
template <> struct wider<int> { typedef long type; };
template <> struct wider<uint> { typedef ulong type; };
template <> struct wider<long> { typedef _BitInt(128) type; };
template <> struct wider<ulong> { typedef unsigned _BitInt(128) type; };

template <class V> struct unsigned_lanes { typedef __make_unsigned(V) type; };
template <class T, int N> struct unsigned_lanes<T __attribute__((ext_vector_type(N)))> {
    typedef __make_unsigned(T) type __attribute__((ext_vector_type(N)));
};
template <class V> using unsigned_of = typename unsigned_lanes<V>::type;

// Applies a function of scalars to every lane.
template <class F, class V, class... W>
KFP_CONSTEXPR V by_lane(F f, V a, W... b) {
    if constexpr (__is_same(typename lane_of<V>::type, V)) return f(a, b...);
    else if constexpr (sizeof(V) == 2 * sizeof(a[0])) return V{f(a[0], b[0]...), f(a[1], b[1]...)};
    else if constexpr (__builtin_vectorelements(V) == 3)
        return V{f(a[0], b[0]...), f(a[1], b[1]...), f(a[2], b[2]...)};
    else return V{f(a[0], b[0]...), f(a[1], b[1]...), f(a[2], b[2]...), f(a[3], b[3]...)};
}

struct high_product {
    template <class T> KFP_CONSTEXPR T operator()(T a, T b) const {
        typedef typename wider<T>::type wide;
        return (T)(((wide)a * (wide)b) >> (8 * sizeof(T)));
    }
};

struct saturated_product_sum {
    template <class T> KFP_CONSTEXPR T operator()(T a, T b, T c) const {
        typedef typename wider<T>::type wide;
        const T highest = __is_signed(T) ? (T)((__make_unsigned(T))~0 >> 1) : (T)~0;
        const T lowest = __is_signed(T) ? (T)(-highest - 1) : (T)0;
        const wide sum = (wide)((wide)a * (wide)b + (wide)c);
        // The one product of unsigned values whose sum could overflow the wide type does not: (2^n-1)^2 + 2^n-1 < 2^2n.
        return sum > (wide)highest ? highest : sum < (wide)lowest ? lowest : (T)sum;
    }
};

template <class V> KFP_CONSTEXPR V integer_abs(V a) {
    if constexpr (__is_signed(typename lane_of<V>::type)) return __builtin_elementwise_abs(a);
    else return a;
}
template <class V> KFP_CONSTEXPR V integer_min(V a, V b) { return __builtin_elementwise_min(a, b); }
template <class V> KFP_CONSTEXPR V integer_max(V a, V b) { return __builtin_elementwise_max(a, b); }
template <class V> KFP_CONSTEXPR V integer_clamp(V a, V low, V high) { return integer_min(integer_max(a, low), high); }
template <class V> KFP_CONSTEXPR V integer_min3(V a, V b, V c) { return integer_min(a, integer_min(b, c)); }
template <class V> KFP_CONSTEXPR V integer_max3(V a, V b, V c) { return integer_max(a, integer_max(b, c)); }
template <class V> KFP_CONSTEXPR V integer_median3(V a, V b, V c) {
    return integer_max(integer_min(a, b), integer_min(integer_max(a, b), c));
}
template <class V> KFP_CONSTEXPR V integer_addsat(V a, V b) { return __builtin_elementwise_add_sat(a, b); }
template <class V> KFP_CONSTEXPR V integer_subsat(V a, V b) { return __builtin_elementwise_sub_sat(a, b); }
template <class V> KFP_CONSTEXPR V integer_hadd(V a, V b) { return (V)((a & b) + ((a ^ b) >> (V)1)); }
template <class V> KFP_CONSTEXPR V integer_rhadd(V a, V b) { return (V)((a | b) - ((a ^ b) >> (V)1)); }
template <class V> KFP_CONSTEXPR V integer_popcount(V a) { return __builtin_elementwise_popcount(a); }
template <class V> KFP_CONSTEXPR V integer_reverse_bits(V a) { return __builtin_elementwise_bitreverse(a); }
template <class V> KFP_CONSTEXPR V integer_rotate(V a, V n) { return __builtin_elementwise_fshl(a, a, n); }
template <class V> KFP_CONSTEXPR V integer_clz(V a) { return __builtin_elementwise_clzg(a, (V)width_of<V>); }
template <class V> KFP_CONSTEXPR V integer_ctz(V a) { return __builtin_elementwise_ctzg(a, (V)width_of<V>); }
template <class V> KFP_CONSTEXPR V integer_mulhi(V a, V b) { return by_lane(high_product(), a, b); }
template <class V> KFP_CONSTEXPR V integer_madhi(V a, V b, V c) { return (V)(integer_mulhi(a, b) + c); }
template <class V> KFP_CONSTEXPR V integer_madsat(V a, V b, V c) { return by_lane(saturated_product_sum(), a, b, c); }
// Defined for values of 24 bits, of which the product's low 32 bits are asked for: those of a plain product.
template <class V> KFP_CONSTEXPR V integer_mul24(V a, V b) { return a * b; }
template <class V> KFP_CONSTEXPR V integer_mad24(V a, V b, V c) { return a * b + c; }

template <class V> KFP_CONSTEXPR unsigned_of<V> integer_absdiff(V a, V b) {
    typedef unsigned_of<V> U;
    return (U)((U)integer_max(a, b) - (U)integer_min(a, b));
}

template <class V> KFP_CONSTEXPR V integer_extract_bits(V a, uint offset, uint bits) {
    if (bits == 0) return (V)0;
    typedef typename lane_of<V>::type T;
    typedef unsigned_of<V> U;
    const V to_the_top = (V)(U)((U)a << (U)(T)(width_of<V> - offset - bits));
    return (V)(to_the_top >> (V)(T)(width_of<V> - bits));
}
template <class V> KFP_CONSTEXPR V integer_insert_bits(V base, V inserted, uint offset, uint bits) {
    if (bits == 0) return base;
    typedef typename lane_of<V>::type T;
    typedef __make_unsigned(T) U;
    const T mask = (T)((U)((U)~(U)0 >> (width_of<V> - bits)) << offset);
    typedef unsigned_of<V> W;
    return (V)((base & (V)(T)~mask) | ((V)(W)((W)inserted << (W)(U)offset) & (V)mask));
}

}  // namespace __kfp

namespace metal {

#define KFP_INTEGER_FUNCTION(n, name) \
    KFP_FOR_INTEGERS(KFP_SCALAR_##n, name, __kfp::integer_##name) \
    KFP_LIFT_##n(name, __kfp::integer_##name, __kfp::integers)
KFP_INTEGER_FUNCTION(1, abs)
KFP_INTEGER_FUNCTION(1, clz)
KFP_INTEGER_FUNCTION(1, ctz)
KFP_INTEGER_FUNCTION(1, popcount)
KFP_INTEGER_FUNCTION(1, reverse_bits)
KFP_INTEGER_FUNCTION(2, min)
KFP_INTEGER_FUNCTION(2, max)
KFP_INTEGER_FUNCTION(2, addsat)
KFP_INTEGER_FUNCTION(2, subsat)
KFP_INTEGER_FUNCTION(2, hadd)
KFP_INTEGER_FUNCTION(2, rhadd)
KFP_INTEGER_FUNCTION(2, rotate)
KFP_INTEGER_FUNCTION(2, mulhi)
KFP_INTEGER_FUNCTION(3, clamp)
KFP_INTEGER_FUNCTION(3, min3)
KFP_INTEGER_FUNCTION(3, max3)
KFP_INTEGER_FUNCTION(3, median3)
KFP_INTEGER_FUNCTION(3, madhi)
KFP_INTEGER_FUNCTION(3, madsat)
#undef KFP_INTEGER_FUNCTION

KFP_SCALAR_2(int, mul24, __kfp::integer_mul24)
KFP_SCALAR_2(uint, mul24, __kfp::integer_mul24)
KFP_LIFT_2(mul24, __kfp::integer_mul24, __kfp::integers)
KFP_SCALAR_3(int, mad24, __kfp::integer_mad24)
KFP_SCALAR_3(uint, mad24, __kfp::integer_mad24)
KFP_LIFT_3(mad24, __kfp::integer_mad24, __kfp::integers)

#define KFP_ABSDIFF(T, ...) \
    KFP_CONSTEXPR make_unsigned_t<T> absdiff(T a, T b) { return __kfp::integer_absdiff(a, b); }
KFP_FOR_INTEGERS(KFP_ABSDIFF)
#undef KFP_ABSDIFF
template <class A, class B, class V = __kfp::vector_of<__kfp::integers, A, B>>
KFP_CONSTEXPR typename __kfp::with_element<V, make_unsigned_t<__kfp::element_of<V>>>::type absdiff(A a_, B b_) {
    const V a(a_), b(b_);
    return {__kfp::raw(), __kfp::integer_absdiff(a.__v, b.__v)};
}

#define KFP_BIT_FIELDS(T, ...) \
    KFP_CONSTEXPR T extract_bits(T a, uint offset, uint bits) { \
        return __kfp::integer_extract_bits(a, offset, bits); \
    } \
    KFP_CONSTEXPR T insert_bits(T base, T inserted, uint offset, uint bits) { \
        return __kfp::integer_insert_bits(base, inserted, offset, bits); \
    }
KFP_FOR_INTEGERS(KFP_BIT_FIELDS)
#undef KFP_BIT_FIELDS
template <class A>
KFP_CONSTEXPR __kfp::vector_of<__kfp::integers, A> extract_bits(A a_, uint offset, uint bits) {
    const __kfp::vector_of<__kfp::integers, A> a(a_);
    return {__kfp::raw(), __kfp::integer_extract_bits(a.__v, offset, bits)};
}
template <class A, class B>
KFP_CONSTEXPR __kfp::vector_of<__kfp::integers, A, B> insert_bits(A base_, B inserted_, uint offset, uint bits) {
    const __kfp::vector_of<__kfp::integers, A, B> base(base_), inserted(inserted_);
    return {__kfp::raw(), __kfp::integer_insert_bits(base.__v, inserted.__v, offset, bits)};
}

}  // namespace metal

#endif
