// metal::vec<T, N>: a class over a compiler vector, so that comparisons give boolean vectors and construction follows
// Metal's rules. It lives outside namespace metal to keep argument-dependent lookup from finding library functions that
// Metal's own (built-in) vector types would not find.
#ifndef KFP_VECTOR_H
#define KFP_VECTOR_H

#include "address_spaces.h"
#include "scalar.h"
#include "swizzle.h"
#include "type_traits.h"

#define KFP_FOR_ELEMENTS(M) \
    M(bool) M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong) M(half) M(float) M(bfloat)

namespace __kfp {

template <class T, int N> struct vec;

// Selects a vector's constructor from a compiler vector, which a scalar could otherwise reach by splatting.
struct raw {};

// Elements whose compiler vector is of another type: a compiler vector of bool would be packed into bits.
template <class T> struct lane { typedef T type; };
template <> struct lane<bool> { typedef uchar type; };

template <class T, int N>
struct lanes {
    typedef typename lane<T>::type type __attribute__((ext_vector_type(N)));
};

template <class To, class From, int N>
KFP_CONSTEXPR typename lanes<To, N>::type converted(typename lanes<From, N>::type v) {
    typedef typename lanes<To, N>::type result;
    if constexpr (__is_same(To, From)) {
        return v;
    } else if constexpr (__is_same(To, bool)) {
        return __builtin_convertvector(v != (typename lanes<From, N>::type)(0), result) & (result)(1);
    } else if constexpr (__is_floating_point(From) && __is_integral(To)) {
        // A vector conversion has no defined result out of range, a scalar one saturates.
        if constexpr (N == 2) return result{(To)v[0], (To)v[1]};
        else if constexpr (N == 3) return result{(To)v[0], (To)v[1], (To)v[2]};
        else return result{(To)v[0], (To)v[1], (To)v[2], (To)v[3]};
    } else {
        return __builtin_convertvector(v, result);
    }
}

template <class T, int N> struct packed_vec;

// Split into bases because the compiler reads all the members of a class from the precompiled header when it meets a
// constructor, but only those that are named of a base class.
template <class T, int N>
struct storage {
    alignas(sizeof(typename lanes<T, N>::type)) typename lanes<T, N>::type __v;
    KFP_CONSTEXPR T operator[](uint i) const& { return (T)__v[i]; }
    KFP_CONSTEXPR T operator[](uint i) const&& { return (T)__v[i]; }
    KFP_INLINE T& operator[](uint i) & { return reinterpret_cast<T*>(&__v)[i]; }
};

template <class T, int N, class Storage> struct components;
template <class T, class Storage> struct components<T, 2, Storage> : Storage { KFP_COMPONENTS(2) };
template <class T, class Storage> struct components<T, 3, Storage> : Storage { KFP_COMPONENTS(3) };
template <class T, class Storage> struct components<T, 4, Storage> : Storage { KFP_COMPONENTS(4) };

#define KFP_LANES(T, N, ...) components<T, N, storage<T, N>>{{__VA_ARGS__}}
#define KFP_JOINED(T, N, ...) KFP_LANES(T, N, lanes<T, N>::type{__VA_ARGS__})
// A list that begins with a vector is not a constant expression to the compiler, one that begins with a scalar is.
#define KFP_COMMON_CONSTRUCTORS(T, N) \
    vec() = default; \
    KFP_CONSTEXPR vec(T s) : KFP_LANES(T, N, (lanes<T, N>::type)((lane<T>::type)s)) {} \
    KFP_CONSTEXPR vec(raw, lanes<T, N>::type v) : KFP_LANES(T, N, v) {} \
    template <class U> KFP_CONSTEXPR explicit vec(vec<U, N> v) : KFP_LANES(T, N, converted<T, U, N>(v.__v)) {} \
    template <class U> \
    KFP_CONSTEXPR explicit vec(packed_vec<U, N> v) : KFP_LANES(T, N, converted<T, U, N>(v.__v)) {}
// The base class makes the operators of the vector type findable, see vector_operators.h.
#define KFP_VECTOR_BASES(T, N) components<T, N, storage<T, N>>, operators_of_##T##N::base

// Explicit specialisations, which are not looked up in a template again when they come from a precompiled header.
#define KFP_VECTORS(T) \
    namespace operators_of_##T##2 { struct base {}; } \
    namespace operators_of_##T##3 { struct base {}; } \
    namespace operators_of_##T##4 { struct base {}; } \
    template <> struct vec<T, 2> : KFP_VECTOR_BASES(T, 2) { \
        typedef operators_of_##T##2::base __operators; \
        KFP_COMMON_CONSTRUCTORS(T, 2) \
        KFP_CONSTEXPR vec(T x, T y) : KFP_JOINED(T, 2, x, y) {} \
    }; \
    template <> struct vec<T, 3> : KFP_VECTOR_BASES(T, 3) { \
        typedef operators_of_##T##3::base __operators; \
        KFP_COMMON_CONSTRUCTORS(T, 3) \
        KFP_CONSTEXPR vec(T x, T y, T z) : KFP_JOINED(T, 3, x, y, z) {} \
        KFP_CONSTEXPR vec(vec<T, 2> xy, T z) : KFP_JOINED(T, 3, xy.__v[0], xy.__v[1], z) {} \
        KFP_CONSTEXPR vec(T x, vec<T, 2> yz) : KFP_JOINED(T, 3, x, yz.__v) {} \
    }; \
    template <> struct vec<T, 4> : KFP_VECTOR_BASES(T, 4) { \
        typedef operators_of_##T##4::base __operators; \
        KFP_COMMON_CONSTRUCTORS(T, 4) \
        KFP_CONSTEXPR vec(T x, T y, T z, T w) : KFP_JOINED(T, 4, x, y, z, w) {} \
        KFP_CONSTEXPR vec(vec<T, 2> xy, T z, T w) : KFP_JOINED(T, 4, xy.__v[0], xy.__v[1], z, w) {} \
        KFP_CONSTEXPR vec(T x, vec<T, 2> yz, T w) : KFP_JOINED(T, 4, x, yz.__v, w) {} \
        KFP_CONSTEXPR vec(T x, T y, vec<T, 2> zw) : KFP_JOINED(T, 4, x, y, zw.__v) {} \
        KFP_CONSTEXPR vec(vec<T, 2> xy, vec<T, 2> zw) \
            : KFP_LANES(T, 4, __builtin_shufflevector(xy.__v, zw.__v, 0, 1, 2, 3)) {} \
        vec(vec<T, 2>, T) = delete; /* else the scalar would be splat */ \
        vec(T, vec<T, 2>) = delete; \
        KFP_CONSTEXPR vec(vec<T, 3> xyz, T w) : KFP_JOINED(T, 4, xyz.__v[0], xyz.__v[1], xyz.__v[2], w) {} \
        KFP_CONSTEXPR vec(T x, vec<T, 3> yzw) : KFP_JOINED(T, 4, x, yzw.__v) {} \
    };
KFP_FOR_ELEMENTS(KFP_VECTORS)
#undef KFP_VECTORS
#undef KFP_VECTOR_BASES
#undef KFP_COMMON_CONSTRUCTORS
#undef KFP_LANES
#undef KFP_JOINED

}  // namespace __kfp

#define KFP_VECTOR_NAMES(T) \
    typedef __kfp::vec<T, 2> T##2; \
    typedef __kfp::vec<T, 3> T##3; \
    typedef __kfp::vec<T, 4> T##4; \
    static_assert(sizeof(T##2) == 2 * sizeof(T) && sizeof(T##3) == 4 * sizeof(T) && alignof(T##4) == 4 * sizeof(T));
KFP_FOR_ELEMENTS(KFP_VECTOR_NAMES)
#undef KFP_VECTOR_NAMES

namespace metal {
using __kfp::vec;
#define KFP_VECTOR_NAMES(T) using ::T##2; using ::T##3; using ::T##4;
KFP_FOR_ELEMENTS(KFP_VECTOR_NAMES)
#undef KFP_VECTOR_NAMES
}

#include "vector_operators.h"

#endif
