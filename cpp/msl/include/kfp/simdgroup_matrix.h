// simdgroup_matrix<T, 8, 8>: 64 elements spread over a simdgroup, two neighbours of a row in each lane.
#ifndef KFP_SIMDGROUP_MATRIX_H
#define KFP_SIMDGROUP_MATRIX_H

#include "exchange.h"

namespace __kfp {

// Which elements a lane holds is visible through thread_elements(); this is the layout of Apple's GPUs. A lane's bits
// give row bits 2, 0, 1 and column bits 2, 1: (row 2, column 2, row 1, row 0, column 1) from the highest down.
struct MatrixPosition {
    uint row;
    uint column;
};

KFP_INLINE MatrixPosition matrix_position(uint lane) {
    return {(lane >> 2 & 4) | (lane >> 1 & 3), (lane >> 1 & 4) | (lane << 1 & 2)};
}

KFP_INLINE uint matrix_lane(uint row, uint column) {
    return (row & 4) << 2 | (column & 4) << 1 | (row & 3) << 1 | (column & 2) >> 1;
}

KFP_INLINE MatrixPosition own_matrix_position() { return matrix_position(exchange<simdgroup_width>(uchar(0)).lane); }

template <class A, class B>
struct MatrixFactors {
    vec<A, 2> a;
    vec<B, 2> b;
};

template <class A, class B>
__attribute__((noinline)) float2 multiplied(Exchanged<MatrixFactors<A, B>> all, float2 sum) {
    const MatrixPosition at = matrix_position(all.lane);
    for (uint k = 0; k < 8; ++k) {
        const vec<A, 2> left = all.at(matrix_lane(at.row, k)).a;
        const vec<B, 2> right = all.at(matrix_lane(k, at.column)).b;
        const float factor = float(left[k & 1]);
        sum = float2(__builtin_elementwise_fma(factor, float(right[0]), sum[0]),
                     __builtin_elementwise_fma(factor, float(right[1]), sum[1]));
    }
    return sum;
}

template <class T> constexpr constant bool is_matrix_element =
    __is_same(T, float) || __is_same(T, half) || __is_same(T, bfloat);

}  // namespace __kfp

namespace metal {

template <class T, int Cols, int Rows = Cols>
struct simdgroup_matrix {
    static_assert(__kfp::is_matrix_element<T> && Cols == 8 && Rows == 8,
                  "simdgroup_matrix is 8 by 8 elements of float, half or bfloat");
    typedef vec<T, 2> storage_type;

    simdgroup_matrix() = default;

    // A diagonal matrix.
    explicit KFP_INLINE simdgroup_matrix(T diagonal) : __elements(T(0)) {
        if (diagonal == T(0)) return;
        const __kfp::MatrixPosition at = __kfp::own_matrix_position();
        __elements = storage_type(at.row == at.column ? diagonal : T(0), at.row == at.column + 1 ? diagonal : T(0));
    }

    KFP_INLINE __private storage_type& thread_elements() __private { return __elements; }
    KFP_INLINE storage_type thread_elements() const __private { return __elements; }

    storage_type __elements;
};

typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

template <class T, int Cols, int Rows = Cols>
KFP_INLINE simdgroup_matrix<T, Cols, Rows> make_filled_simdgroup_matrix(T value) {
    simdgroup_matrix<T, Cols, Rows> result;
    result.__elements = vec<T, 2>(value);
    return result;
}

// The origin is (column, row), before a transposition.
#define KFP_MATRIX_ACCESS(space)                                                                                  \
    template <class T>                                                                                            \
    KFP_INLINE void simdgroup_load(__private simdgroup_matrix<T, 8, 8>& d, const space T* source,                 \
                                   ulong elements_per_row = 8, ulong2 matrix_origin = ulong2(0),                  \
                                   bool transpose_matrix = false) {                                               \
        const __kfp::MatrixPosition at = __kfp::own_matrix_position();                                            \
        const space T* start = source + matrix_origin.y * elements_per_row + matrix_origin.x;                     \
        const ulong along_row = transpose_matrix ? elements_per_row : 1;                                          \
        const ulong along_column = transpose_matrix ? 1 : elements_per_row;                                       \
        const space T* first = start + at.row * along_column + at.column * along_row;                             \
        d.__elements = vec<T, 2>(first[0], first[along_row]);                                                     \
    }                                                                                                             \
    template <class T>                                                                                            \
    KFP_INLINE void simdgroup_store(simdgroup_matrix<T, 8, 8> a, space T* target, ulong elements_per_row = 8,     \
                                    ulong2 matrix_origin = ulong2(0), bool transpose_matrix = false) {            \
        const __kfp::MatrixPosition at = __kfp::own_matrix_position();                                            \
        space T* start = target + matrix_origin.y * elements_per_row + matrix_origin.x;                           \
        const ulong along_row = transpose_matrix ? elements_per_row : 1;                                          \
        const ulong along_column = transpose_matrix ? 1 : elements_per_row;                                       \
        space T* first = start + at.row * along_column + at.column * along_row;                                   \
        first[0] = a.__elements[0];                                                                               \
        first[along_row] = a.__elements[1];                                                                       \
    }
KFP_MATRIX_ACCESS(__global)
KFP_MATRIX_ACCESS(__local)
#undef KFP_MATRIX_ACCESS

// d = a * b + c, accumulated as float.
template <class D, class A, class B, class C>
KFP_INLINE void simdgroup_multiply_accumulate(__private simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                                              simdgroup_matrix<B, 8, 8> b, simdgroup_matrix<C, 8, 8> c) {
    typedef __kfp::MatrixFactors<A, B> Factors;
    const Factors own{a.__elements, b.__elements};
    d.__elements = vec<D, 2>(__kfp::multiplied(__kfp::exchange<__kfp::simdgroup_width>(own), float2(c.__elements)));
}

template <class D, class A, class B>
KFP_INLINE void simdgroup_multiply(__private simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                                   simdgroup_matrix<B, 8, 8> b) {
    simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<float, 8, 8>(0.0f));
}

template <class T>
KFP_INLINE simdgroup_matrix<T, 8, 8> operator*(simdgroup_matrix<T, 8, 8> a, simdgroup_matrix<T, 8, 8> b) {
    simdgroup_matrix<T, 8, 8> result;
    simdgroup_multiply(result, a, b);
    return result;
}

}  // namespace metal

#endif
