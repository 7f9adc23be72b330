// as_type<To>(from): the same bits as another type of the same size.
#ifndef KFP_AS_TYPE_H
#define KFP_AS_TYPE_H

#include "signatures.h"

namespace __kfp {

// By way of the compiler vectors, because the fourth element's room in a vector of three holds no value to convert.
template <class To, class From>
KFP_CONSTEXPR To bits_as(From from) {
    constexpr bool from_vector = vector_argument<From>::kind != 0, to_vector = vector_argument<To>::kind != 0;
    if constexpr (from_vector && to_vector) {
        typedef typename vector_argument<To>::type V;
        return V(raw(), __builtin_bit_cast(decltype(V::__v), from.__v));
    } else if constexpr (from_vector) {
        return __builtin_bit_cast(To, from.__v);
    } else if constexpr (to_vector) {
        typedef typename vector_argument<To>::type V;
        return V(raw(), __builtin_bit_cast(decltype(V::__v), from));
    } else {
        return __builtin_bit_cast(To, from);
    }
}

}  // namespace __kfp

template <class To, class From>
KFP_CONSTEXPR metal::enable_if_t<sizeof(To) == sizeof(From), To> as_type(From from) {
    return __kfp::bits_as<To>(from);
}

namespace metal {
using ::as_type;
}

#endif
