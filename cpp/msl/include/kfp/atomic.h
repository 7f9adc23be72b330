// Atomic types and functions. The arithmetic is the compiler's; what each type allows follows Metal's tables.
#ifndef KFP_ATOMIC_H
#define KFP_ATOMIC_H

#include "address_spaces.h"
#include "scalar.h"
#include "sync.h"
#include "type_traits.h"

namespace __kfp {

template <class T> constexpr constant bool atomic_bitwise = __is_same(T, int) || __is_same(T, uint);
template <class T> constexpr constant bool atomic_addable = atomic_bitwise<T> || __is_same(T, float);
template <class T> constexpr constant bool atomic_exchangeable = atomic_addable<T> || __is_same(T, bool);
// In threadgroup memory a float has no atomic operation.
template <class T> constexpr constant bool atomic_addable_in_threadgroup = atomic_bitwise<T>;
template <class T> constexpr constant bool atomic_exchangeable_in_threadgroup = atomic_bitwise<T> || __is_same(T, bool);

// The type of the same size that the compiler has loads, stores and exchanges by value for.
template <class T> struct atomic_bits { typedef T type; };
template <> struct atomic_bits<bool> { typedef uchar type; };
template <> struct atomic_bits<float> { typedef uint type; };
template <class T> using atomic_bits_t = typename atomic_bits<T>::type;

}  // namespace __kfp

namespace metal {

template <class T>
struct atomic {
    static_assert(__kfp::atomic_exchangeable<T> || __is_same(T, ulong),
                  "atomic<T> needs T to be int, uint, bool, float or ulong");
    atomic() = default;
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T __value;
};

typedef atomic<int> __kfp_id_atomic_int;
typedef atomic<uint> __kfp_id_atomic_uint;
typedef atomic<float> __kfp_id_atomic_float;
typedef atomic<ulong> __kfp_id_atomic_ulong;
typedef atomic<bool> atomic_bool;

// Metal's atomic functions take no other order, and it must be a constant.
#define KFP_RELAXED(order) \
    __attribute__((enable_if(order == metal::memory_order_relaxed, "the order must be memory_order_relaxed")))

// Once per address space that atomics may live in. The operand isn't deduced, so it converts to the atomic's type.
#define KFP_ATOMIC_ACCESS(space, allowed)                                                                         \
    template <class T> KFP_INLINE enable_if_t<__kfp::allowed<T>> atomic_store_explicit(                           \
        volatile space atomic<T>* object, type_identity_t<T> desired, memory_order order) KFP_RELAXED(order) {    \
        typedef __kfp::atomic_bits_t<T> bits;                                                                     \
        __atomic_store_n((volatile space bits*)&object->__value, __builtin_bit_cast(bits, desired),               \
                         __ATOMIC_RELAXED);                                                                       \
    }                                                                                                             \
    template <class T> KFP_INLINE enable_if_t<__kfp::allowed<T>, T> atomic_load_explicit(                         \
        const volatile space atomic<T>* object, memory_order order) KFP_RELAXED(order) {                          \
        typedef __kfp::atomic_bits_t<T> bits;                                                                     \
        const bits value = __atomic_load_n((const volatile space bits*)&object->__value, __ATOMIC_RELAXED);       \
        return __builtin_bit_cast(T, value);                                                                      \
    }                                                                                                             \
    template <class T> KFP_INLINE enable_if_t<__kfp::allowed<T>, T> atomic_exchange_explicit(                     \
        volatile space atomic<T>* object, type_identity_t<T> desired, memory_order order) KFP_RELAXED(order) {    \
        typedef __kfp::atomic_bits_t<T> bits;                                                                     \
        const bits value = __atomic_exchange_n((volatile space bits*)&object->__value,                            \
                                               __builtin_bit_cast(bits, desired), __ATOMIC_RELAXED);              \
        return __builtin_bit_cast(T, value);                                                                      \
    }                                                                                                             \
    template <class T>                                                                                            \
    KFP_INLINE enable_if_t<__kfp::allowed<T>, bool> atomic_compare_exchange_weak_explicit(                        \
        volatile space atomic<T>* object, __private type_identity_t<T>* expected, type_identity_t<T> desired,     \
        memory_order success, memory_order failure) KFP_RELAXED(success) KFP_RELAXED(failure) {                   \
        typedef __kfp::atomic_bits_t<T> bits;                                                                     \
        return __atomic_compare_exchange_n((volatile space bits*)&object->__value, (__private bits*)expected,     \
                                           __builtin_bit_cast(bits, desired), true, __ATOMIC_RELAXED,             \
                                           __ATOMIC_RELAXED);                                                     \
    }

#define KFP_ATOMIC_FETCH(space, name, builtin, allowed)                                                           \
    template <class T> KFP_INLINE enable_if_t<__kfp::allowed<T>, T> name(                                         \
        volatile space atomic<T>* object, type_identity_t<T> operand, memory_order order) KFP_RELAXED(order) {    \
        return builtin(&object->__value, operand, __ATOMIC_RELAXED);                                              \
    }

// The only operations on 64 bits, which return nothing.
#define KFP_ATOMIC_WIDE(space, name, builtin)                                                                     \
    KFP_INLINE void name(volatile space atomic<ulong>* object, ulong operand, memory_order order)                 \
        KFP_RELAXED(order) {                                                                                      \
        builtin(&object->__value, operand, __ATOMIC_RELAXED);                                                     \
    }

#define KFP_ATOMIC_FUNCTIONS(space, exchangeable, addable)                                                        \
    KFP_ATOMIC_ACCESS(space, exchangeable)                                                                        \
    KFP_ATOMIC_FETCH(space, atomic_fetch_add_explicit, __atomic_fetch_add, addable)                               \
    KFP_ATOMIC_FETCH(space, atomic_fetch_sub_explicit, __atomic_fetch_sub, addable)                               \
    KFP_ATOMIC_FETCH(space, atomic_fetch_and_explicit, __atomic_fetch_and, atomic_bitwise)                        \
    KFP_ATOMIC_FETCH(space, atomic_fetch_or_explicit, __atomic_fetch_or, atomic_bitwise)                          \
    KFP_ATOMIC_FETCH(space, atomic_fetch_xor_explicit, __atomic_fetch_xor, atomic_bitwise)                        \
    KFP_ATOMIC_FETCH(space, atomic_fetch_min_explicit, __atomic_fetch_min, atomic_bitwise)                        \
    KFP_ATOMIC_FETCH(space, atomic_fetch_max_explicit, __atomic_fetch_max, atomic_bitwise)
KFP_ATOMIC_FUNCTIONS(__global, atomic_exchangeable, atomic_addable)
KFP_ATOMIC_FUNCTIONS(__local, atomic_exchangeable_in_threadgroup, atomic_addable_in_threadgroup)
KFP_ATOMIC_WIDE(__global, atomic_min_explicit, __atomic_fetch_min)
KFP_ATOMIC_WIDE(__global, atomic_max_explicit, __atomic_fetch_max)

#undef KFP_RELAXED
#undef KFP_ATOMIC_ACCESS
#undef KFP_ATOMIC_FETCH
#undef KFP_ATOMIC_WIDE
#undef KFP_ATOMIC_FUNCTIONS

}  // namespace metal

#endif
