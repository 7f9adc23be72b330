// metal::packed_vec<T, N>: N elements without padding, aligned as one element. It computes as the vector that it
// converts to.
#ifndef KFP_PACKED_H
#define KFP_PACKED_H

#include "vector.h"

namespace __kfp {

template <class T, int N>
struct packed_storage {
    T __e[N];

    typedef typename lanes<T, N>::type loose __attribute__((aligned(alignof(T))));
    KFP_CONSTEXPR typename lanes<T, N>::type __load() const {
        typedef typename lanes<T, N>::type result;
        if constexpr (N == 3) {
            return result{__e[0], __e[1], __e[2]};
        } else if (__builtin_is_constant_evaluated()) {
            if constexpr (N == 2) return result{__e[0], __e[1]};
            else return result{__e[0], __e[1], __e[2], __e[3]};
        } else {
            return *reinterpret_cast<const loose*>(__e);
        }
    }
    __declspec(property(get = __load)) typename lanes<T, N>::type __v;

    KFP_CONSTEXPR T operator[](uint i) const& { return __e[i]; }
    KFP_CONSTEXPR T operator[](uint i) const&& { return __e[i]; }
    KFP_INLINE T& operator[](uint i) & { return __e[i]; }
};

template <class T, int N>
KFP_CONSTEXPR packed_storage<T, N> packed(const vec<T, N> v) {
    if constexpr (N == 2) return {{v[0], v[1]}};
    else if constexpr (N == 3) return {{v[0], v[1], v[2]}};
    else return {{v[0], v[1], v[2], v[3]}};
}

// The operators are those of the unpacked vector, found through the same base.
template <class T, int N>
struct packed_vec : components<T, N, packed_storage<T, N>>, vec<T, N>::__operators {
    packed_vec() = default;
    KFP_CONSTEXPR packed_vec(vec<T, N> v) : components<T, N, packed_storage<T, N>>{packed(v)} {}
    KFP_CONSTEXPR packed_vec(T s) : packed_vec(vec<T, N>(s)) {}
    template <class U> KFP_CONSTEXPR explicit packed_vec(vec<U, N> v) : packed_vec(vec<T, N>(v)) {}
    template <class U> KFP_CONSTEXPR explicit packed_vec(packed_vec<U, N> v) : packed_vec(vec<T, N>(v)) {}
    template <class A, class B, class... C>
    KFP_CONSTEXPR packed_vec(A a, B b, C... c) : packed_vec(vec<T, N>(a, b, c...)) {}
    KFP_CONSTEXPR operator vec<T, N>() const { return {raw(), this->__load()}; }

#define KFP_COMPOUND(op) \
    template <class U> KFP_INLINE packed_vec& operator op##=(U b) { return *this = vec<T, N>(*this) op b; }
    KFP_COMPOUND(+) KFP_COMPOUND(-) KFP_COMPOUND(*) KFP_COMPOUND(/) KFP_COMPOUND(%)
    KFP_COMPOUND(&) KFP_COMPOUND(|) KFP_COMPOUND(^) KFP_COMPOUND(<<) KFP_COMPOUND(>>)
#undef KFP_COMPOUND
};

}  // namespace __kfp

#define KFP_PACKED_NAMES(T) \
    typedef __kfp::packed_vec<T, 2> packed_##T##2; \
    typedef __kfp::packed_vec<T, 3> packed_##T##3; \
    typedef __kfp::packed_vec<T, 4> packed_##T##4; \
    static_assert(sizeof(packed_##T##3) == 3 * sizeof(T) && alignof(packed_##T##4) == alignof(T));
KFP_FOR_ELEMENTS(KFP_PACKED_NAMES)
#undef KFP_PACKED_NAMES

namespace metal {
using __kfp::packed_vec;
#define KFP_PACKED_NAMES(T) using ::packed_##T##2; using ::packed_##T##3; using ::packed_##T##4;
KFP_FOR_ELEMENTS(KFP_PACKED_NAMES)
#undef KFP_PACKED_NAMES
}

#endif
