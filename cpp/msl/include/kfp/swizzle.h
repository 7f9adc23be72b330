// The members of a vector under their xyzw and rgba names. Each is a property: a read is a shuffle, a write stores the
// named components and nothing else, so that threads may write different components of one vector in memory.
// A name with a repeated component has no setter, which makes an assignment to it an error in the user's line.
#ifndef KFP_SWIZZLE_H
#define KFP_SWIZZLE_H

// One macro per nesting level, because a macro is not expanded inside its own expansion.
#define KFP_FIRST_2(M) M(x, r, 0) M(y, g, 1)
#define KFP_FIRST_3(M) KFP_FIRST_2(M) M(z, b, 2)
#define KFP_FIRST_4(M) KFP_FIRST_3(M) M(w, a, 3)
#define KFP_SECOND_2(M, ...) M(__VA_ARGS__, x, r, 0) M(__VA_ARGS__, y, g, 1)
#define KFP_SECOND_3(M, ...) KFP_SECOND_2(M, __VA_ARGS__) M(__VA_ARGS__, z, b, 2)
#define KFP_SECOND_4(M, ...) KFP_SECOND_3(M, __VA_ARGS__) M(__VA_ARGS__, w, a, 3)
#define KFP_THIRD_2(M, ...) M(__VA_ARGS__, x, r, 0) M(__VA_ARGS__, y, g, 1)
#define KFP_THIRD_3(M, ...) KFP_THIRD_2(M, __VA_ARGS__) M(__VA_ARGS__, z, b, 2)
#define KFP_THIRD_4(M, ...) KFP_THIRD_3(M, __VA_ARGS__) M(__VA_ARGS__, w, a, 3)
#define KFP_FOURTH_2(M, ...) M(__VA_ARGS__, x, r, 0) M(__VA_ARGS__, y, g, 1)
#define KFP_FOURTH_3(M, ...) KFP_FOURTH_2(M, __VA_ARGS__) M(__VA_ARGS__, z, b, 2)
#define KFP_FOURTH_4(M, ...) KFP_FOURTH_3(M, __VA_ARGS__) M(__VA_ARGS__, w, a, 3)

#define KFP_PROPERTY(type, name, accessor) \
    __declspec(property(get = __get_##accessor, put = __put_##accessor)) type name;

#define KFP_MEMBER_1(a, A, i) \
    KFP_CONSTEXPR T __get_##a() const { return (T)this->__v[i]; } \
    KFP_INLINE T __put_##a(T value) { return (*this)[i] = value; } \
    KFP_PROPERTY(T, a, a) KFP_PROPERTY(T, A, a)
#define KFP_MEMBER_2(a, A, i, b, B, j) \
    KFP_CONSTEXPR vec<T, 2> __get_##a##b() const { \
        return {raw(), __builtin_shufflevector(this->__v, this->__v, i, j)}; \
    } \
    KFP_PROPERTY(KFP_PAIR, a##b, a##b) KFP_PROPERTY(KFP_PAIR, A##B, a##b)
#define KFP_MEMBER_3(a, A, i, b, B, j, c, C, k) \
    KFP_CONSTEXPR vec<T, 3> __get_##a##b##c() const { \
        return {raw(), __builtin_shufflevector(this->__v, this->__v, i, j, k)}; \
    } \
    KFP_PROPERTY(KFP_TRIPLE, a##b##c, a##b##c) KFP_PROPERTY(KFP_TRIPLE, A##B##C, a##b##c)
#define KFP_MEMBER_4(a, A, i, b, B, j, c, C, k, d, D, l) \
    KFP_CONSTEXPR vec<T, 4> __get_##a##b##c##d() const { \
        return {raw(), __builtin_shufflevector(this->__v, this->__v, i, j, k, l)}; \
    } \
    KFP_PROPERTY(KFP_QUADRUPLE, a##b##c##d, a##b##c##d) KFP_PROPERTY(KFP_QUADRUPLE, A##B##C##D, a##b##c##d)

#define KFP_PAIR vec<T, 2>
#define KFP_TRIPLE vec<T, 3>
#define KFP_QUADRUPLE vec<T, 4>

#define KFP_PAIRS_2(...) KFP_SECOND_2(KFP_MEMBER_2, __VA_ARGS__)
#define KFP_PAIRS_3(...) KFP_SECOND_3(KFP_MEMBER_2, __VA_ARGS__)
#define KFP_PAIRS_4(...) KFP_SECOND_4(KFP_MEMBER_2, __VA_ARGS__)
#define KFP_TRIPLES_2(...) KFP_SECOND_2(KFP_TRIPLES_2B, __VA_ARGS__)
#define KFP_TRIPLES_3(...) KFP_SECOND_3(KFP_TRIPLES_3B, __VA_ARGS__)
#define KFP_TRIPLES_4(...) KFP_SECOND_4(KFP_TRIPLES_4B, __VA_ARGS__)
#define KFP_TRIPLES_2B(...) KFP_THIRD_2(KFP_MEMBER_3, __VA_ARGS__)
#define KFP_TRIPLES_3B(...) KFP_THIRD_3(KFP_MEMBER_3, __VA_ARGS__)
#define KFP_TRIPLES_4B(...) KFP_THIRD_4(KFP_MEMBER_3, __VA_ARGS__)
#define KFP_QUADRUPLES_2(...) KFP_SECOND_2(KFP_QUADRUPLES_2B, __VA_ARGS__)
#define KFP_QUADRUPLES_3(...) KFP_SECOND_3(KFP_QUADRUPLES_3B, __VA_ARGS__)
#define KFP_QUADRUPLES_4(...) KFP_SECOND_4(KFP_QUADRUPLES_4B, __VA_ARGS__)
#define KFP_QUADRUPLES_2B(...) KFP_THIRD_2(KFP_QUADRUPLES_2C, __VA_ARGS__)
#define KFP_QUADRUPLES_3B(...) KFP_THIRD_3(KFP_QUADRUPLES_3C, __VA_ARGS__)
#define KFP_QUADRUPLES_4B(...) KFP_THIRD_4(KFP_QUADRUPLES_4C, __VA_ARGS__)
#define KFP_QUADRUPLES_2C(...) KFP_FOURTH_2(KFP_MEMBER_4, __VA_ARGS__)
#define KFP_QUADRUPLES_3C(...) KFP_FOURTH_3(KFP_MEMBER_4, __VA_ARGS__)
#define KFP_QUADRUPLES_4C(...) KFP_FOURTH_4(KFP_MEMBER_4, __VA_ARGS__)

#define KFP_PUT_2(a, i, b, j) \
    KFP_INLINE vec<T, 2> __put_##a##b(vec<T, 2> value) { \
        (*this)[i] = value[0]; (*this)[j] = value[1]; \
        return value; \
    }
#define KFP_PUT_3(a, i, b, j, c, k) \
    KFP_INLINE vec<T, 3> __put_##a##b##c(vec<T, 3> value) { \
        (*this)[i] = value[0]; (*this)[j] = value[1]; (*this)[k] = value[2]; \
        return value; \
    }
#define KFP_PUT_4(a, i, b, j, c, k, d, l) \
    KFP_INLINE vec<T, 4> __put_##a##b##c##d(vec<T, 4> value) { \
        (*this)[i] = value[0]; (*this)[j] = value[1]; (*this)[k] = value[2]; (*this)[l] = value[3]; \
        return value; \
    }

#define KFP_PUT_ORDERS_2(a, i, b, j) KFP_PUT_2(a, i, b, j) KFP_PUT_2(b, j, a, i)
#define KFP_PUT_ORDERS_3(a, i, b, j, c, k) \
    KFP_PUT_3(a, i, b, j, c, k) KFP_PUT_3(a, i, c, k, b, j) KFP_PUT_3(b, j, a, i, c, k) \
    KFP_PUT_3(b, j, c, k, a, i) KFP_PUT_3(c, k, a, i, b, j) KFP_PUT_3(c, k, b, j, a, i)
#define KFP_PUT_ORDERS_4_FROM(a, i, b, j, c, k, d, l) \
    KFP_PUT_4(a, i, b, j, c, k, d, l) KFP_PUT_4(a, i, b, j, d, l, c, k) KFP_PUT_4(a, i, c, k, b, j, d, l) \
    KFP_PUT_4(a, i, c, k, d, l, b, j) KFP_PUT_4(a, i, d, l, b, j, c, k) KFP_PUT_4(a, i, d, l, c, k, b, j)

#define KFP_SETTERS_2 KFP_PUT_ORDERS_2(x, 0, y, 1)
#define KFP_SETTERS_3 \
    KFP_SETTERS_2 KFP_PUT_ORDERS_2(x, 0, z, 2) KFP_PUT_ORDERS_2(y, 1, z, 2) KFP_PUT_ORDERS_3(x, 0, y, 1, z, 2)
#define KFP_SETTERS_4 \
    KFP_SETTERS_3 KFP_PUT_ORDERS_2(x, 0, w, 3) KFP_PUT_ORDERS_2(y, 1, w, 3) KFP_PUT_ORDERS_2(z, 2, w, 3) \
    KFP_PUT_ORDERS_3(x, 0, y, 1, w, 3) KFP_PUT_ORDERS_3(x, 0, z, 2, w, 3) KFP_PUT_ORDERS_3(y, 1, z, 2, w, 3) \
    KFP_PUT_ORDERS_4_FROM(x, 0, y, 1, z, 2, w, 3) KFP_PUT_ORDERS_4_FROM(y, 1, x, 0, z, 2, w, 3) \
    KFP_PUT_ORDERS_4_FROM(z, 2, x, 0, y, 1, w, 3) KFP_PUT_ORDERS_4_FROM(w, 3, x, 0, y, 1, z, 2)

#define KFP_COMPONENTS(N) \
    KFP_FIRST_##N(KFP_MEMBER_1) KFP_FIRST_##N(KFP_PAIRS_##N) KFP_FIRST_##N(KFP_TRIPLES_##N) \
    KFP_FIRST_##N(KFP_QUADRUPLES_##N) KFP_SETTERS_##N

#endif
