// metal::matrix<T, Columns, Rows>, stored by columns.
#ifndef KFP_MATRIX_H
#define KFP_MATRIX_H

#include "array.h"
#include "geometric.h"

namespace __kfp {

template <class T, int N>
KFP_CONSTEXPR vec<T, N> unit_column(T s, int row) {
    const T zero = (T)0.0f;
    if constexpr (N == 2) return {row == 0 ? s : zero, row == 1 ? s : zero};
    else if constexpr (N == 3) return {row == 0 ? s : zero, row == 1 ? s : zero, row == 2 ? s : zero};
    else return {row == 0 ? s : zero, row == 1 ? s : zero, row == 2 ? s : zero, row == 3 ? s : zero};
}

// Plain constructors from columns: unlike templates they take braced lists.
template <class T, int Columns, int Rows> struct matrix_columns;
template <class T, int Rows>
struct matrix_columns<T, 2, Rows> {
    typedef vec<T, Rows> column;
    column columns[2];
    matrix_columns() = default;
    KFP_CONSTEXPR matrix_columns(column a, column b) : columns{a, b} {}
};
template <class T, int Rows>
struct matrix_columns<T, 3, Rows> {
    typedef vec<T, Rows> column;
    column columns[3];
    matrix_columns() = default;
    KFP_CONSTEXPR matrix_columns(column a, column b, column c) : columns{a, b, c} {}
};
template <class T, int Rows>
struct matrix_columns<T, 4, Rows> {
    typedef vec<T, Rows> column;
    column columns[4];
    matrix_columns() = default;
    KFP_CONSTEXPR matrix_columns(column a, column b, column c, column d) : columns{a, b, c, d} {}
};

template <class T, int Columns, int Rows>
struct matrix : matrix_columns<T, Columns, Rows> {
    using typename matrix_columns<T, Columns, Rows>::column;
    using matrix_columns<T, Columns, Rows>::matrix_columns;
    using matrix_columns<T, Columns, Rows>::columns;

    matrix() = default;
    KFP_CONSTEXPR explicit matrix(T diagonal) : matrix_columns<T, Columns, Rows>{} {
        for (int c = 0; c < Columns; ++c) columns[c] = unit_column<T, Rows>(diagonal, c);
    }
    template <class U>
    KFP_CONSTEXPR explicit matrix(const matrix<U, Columns, Rows> m) : matrix_columns<T, Columns, Rows>{} {
        for (int c = 0; c < Columns; ++c) columns[c] = column(m.columns[c]);
    }
    // From all the elements in column order.
    template <class... A, class = metal::enable_if_t<sizeof...(A) == Columns * Rows>>
    KFP_CONSTEXPR matrix(A... a) : matrix_columns<T, Columns, Rows>{} {
        const T given[Columns * Rows] = {(T)a...};
        for (int i = 0; i < Columns; ++i) {
            const __private T* e = given + i * Rows;
            if constexpr (Rows == 2) columns[i] = column(e[0], e[1]);
            else if constexpr (Rows == 3) columns[i] = column(e[0], e[1], e[2]);
            else columns[i] = column(e[0], e[1], e[2], e[3]);
        }
    }

#define KFP_COLUMN_ACCESS(own, space) \
    constexpr space column& operator[](int c) own& { return ((space column*)columns)[c]; } \
    constexpr const own column& operator[](int c) const own& { return columns[c]; }
    KFP_IN_EACH_SPACE(KFP_COLUMN_ACCESS)
#undef KFP_COLUMN_ACCESS
    constexpr column operator[](int c) const&& { return columns[c]; }

    KFP_INLINE matrix& operator+=(matrix b) { return *this = *this + b; }
    KFP_INLINE matrix& operator-=(matrix b) { return *this = *this - b; }
    KFP_INLINE matrix& operator*=(T b) { return *this = *this * b; }
    KFP_INLINE matrix& operator*=(matrix<T, Columns, Columns> b) { return *this = *this * b; }
};

template <class T, int C, int R>
KFP_CONSTEXPR matrix<T, C, R> operator+(matrix<T, C, R> a, const matrix<T, C, R> b) {
    for (int c = 0; c < C; ++c) a.columns[c] = a.columns[c] + b.columns[c];
    return a;
}
template <class T, int C, int R>
KFP_CONSTEXPR matrix<T, C, R> operator-(matrix<T, C, R> a, const matrix<T, C, R> b) {
    for (int c = 0; c < C; ++c) a.columns[c] = a.columns[c] - b.columns[c];
    return a;
}
template <class T, int C, int R>
KFP_CONSTEXPR matrix<T, C, R> operator-(matrix<T, C, R> a) {
    for (int c = 0; c < C; ++c) a.columns[c] = -a.columns[c];
    return a;
}
template <class T, int C, int R>
KFP_CONSTEXPR matrix<T, C, R> operator*(matrix<T, C, R> a, metal::type_identity_t<T> s) {
    for (int c = 0; c < C; ++c) a.columns[c] = a.columns[c] * s;
    return a;
}
template <class T, int C, int R>
KFP_CONSTEXPR matrix<T, C, R> operator*(metal::type_identity_t<T> s, const matrix<T, C, R> a) { return a * s; }

template <class T, int C, int R>
KFP_CONSTEXPR vec<T, R> operator*(const matrix<T, C, R> m, const metal::type_identity_t<vec<T, C>> v) {
    vec<T, R> sum = m.columns[0] * v[0];
    for (int c = 1; c < C; ++c) sum = sum + m.columns[c] * v[c];
    return sum;
}
template <class T, int C, int R>
KFP_CONSTEXPR vec<T, C> operator*(const metal::type_identity_t<vec<T, R>> v, const matrix<T, C, R> m) {
    const vec<T, R>& a = v;
    if constexpr (C == 2) return {metal::dot(a, m.columns[0]), metal::dot(a, m.columns[1])};
    else if constexpr (C == 3)
        return {metal::dot(a, m.columns[0]), metal::dot(a, m.columns[1]), metal::dot(a, m.columns[2])};
    else
        return {metal::dot(a, m.columns[0]), metal::dot(a, m.columns[1]), metal::dot(a, m.columns[2]),
                metal::dot(a, m.columns[3])};
}
template <class T, int C, int K, int R>
KFP_CONSTEXPR matrix<T, C, R> operator*(const matrix<T, K, R> a, const matrix<T, C, K> b) {
    matrix<T, C, R> product((T)0.0f);
    for (int c = 0; c < C; ++c) product.columns[c] = a * b.columns[c];
    return product;
}

template <class T, int C, int R>
KFP_CONSTEXPR bool operator==(const matrix<T, C, R> a, const matrix<T, C, R> b) {
    for (int c = 0; c < C; ++c)
        if (!metal::all(a.columns[c] == b.columns[c])) return false;
    return true;
}
template <class T, int C, int R>
KFP_CONSTEXPR bool operator!=(const matrix<T, C, R> a, const matrix<T, C, R> b) { return !(a == b); }

// The determinant of the rows 1, 2 and 3 of three columns.
template <class T>
KFP_CONSTEXPR T minor_determinant(vec<T, 4> a, vec<T, 4> b, vec<T, 4> c) {
    return metal::dot(a.yzw, metal::cross(b.yzw, c.yzw));
}

}  // namespace __kfp

namespace metal {

using __kfp::matrix;

template <class T, int C, int R>
KFP_CONSTEXPR matrix<T, R, C> transpose(const matrix<T, C, R> m) {
    matrix<T, R, C> result((T)0.0f);
    for (int r = 0; r < R; ++r) {
        if constexpr (C == 2) result.columns[r] = {m.columns[0][r], m.columns[1][r]};
        else if constexpr (C == 3) result.columns[r] = {m.columns[0][r], m.columns[1][r], m.columns[2][r]};
        else result.columns[r] = {m.columns[0][r], m.columns[1][r], m.columns[2][r], m.columns[3][r]};
    }
    return result;
}

template <class T, int N>
KFP_CONSTEXPR T determinant(const matrix<T, N, N> m) {
    if constexpr (N == 2) {
        return m.columns[0][0] * m.columns[1][1] - m.columns[1][0] * m.columns[0][1];
    } else if constexpr (N == 3) {
        return dot(m.columns[0], cross(m.columns[1], m.columns[2]));
    } else {
        return m.columns[0][0] * __kfp::minor_determinant(m.columns[1], m.columns[2], m.columns[3]) -
               m.columns[1][0] * __kfp::minor_determinant(m.columns[0], m.columns[2], m.columns[3]) +
               m.columns[2][0] * __kfp::minor_determinant(m.columns[0], m.columns[1], m.columns[3]) -
               m.columns[3][0] * __kfp::minor_determinant(m.columns[0], m.columns[1], m.columns[2]);
    }
}

}  // namespace metal

#define KFP_MATRIX_NAME(T, C, R) \
    typedef __kfp::matrix<T, C, R> T##C##x##R; \
    namespace metal { using ::T##C##x##R; }
#define KFP_MATRIX_NAMES(T) \
    KFP_MATRIX_NAME(T, 2, 2) KFP_MATRIX_NAME(T, 2, 3) KFP_MATRIX_NAME(T, 2, 4) \
    KFP_MATRIX_NAME(T, 3, 2) KFP_MATRIX_NAME(T, 3, 3) KFP_MATRIX_NAME(T, 3, 4) \
    KFP_MATRIX_NAME(T, 4, 2) KFP_MATRIX_NAME(T, 4, 3) KFP_MATRIX_NAME(T, 4, 4)
KFP_MATRIX_NAMES(float)
KFP_MATRIX_NAMES(half)
#undef KFP_MATRIX_NAMES
#undef KFP_MATRIX_NAME

#endif
