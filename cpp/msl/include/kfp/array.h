// metal::array and the utilities that Metal's headers take from the C++ library.
#ifndef KFP_ARRAY_H
#define KFP_ARRAY_H

#include "address_spaces.h"
#include "type_traits.h"

// Declares a member once per address space, so that what it returns refers into the object's own: M(qualifier of the
// member, address space of the result unless that is const). A member cannot be qualified with `device`.
#define KFP_IN_EACH_SPACE(M) M(__generic, __generic) M(thread, thread) M(__global, device) M(threadgroup, threadgroup)

namespace metal {

template <class T, size_t N>
struct array {
    T __elements[N];

#define KFP_ELEMENT_ACCESS(own, space) \
    constexpr space T& operator[](size_t i) own& { return data()[i]; } \
    constexpr const own T& operator[](size_t i) const own& { return __elements[i]; } \
    constexpr space T* data() own& { return (space T*)__elements; } \
    constexpr const own T* data() const own& { return __elements; } \
    constexpr space T* begin() own& { return data(); } \
    constexpr const own T* begin() const own& { return __elements; } \
    constexpr space T* end() own& { return data() + N; } \
    constexpr const own T* end() const own& { return __elements + N; } \
    constexpr space T& front() own& { return data()[0]; } \
    constexpr const own T& front() const own& { return __elements[0]; } \
    constexpr space T& back() own& { return data()[N - 1]; } \
    constexpr const own T& back() const own& { return __elements[N - 1]; }
    KFP_IN_EACH_SPACE(KFP_ELEMENT_ACCESS)
#undef KFP_ELEMENT_ACCESS
    constexpr T operator[](size_t i) const&& { return __elements[i]; }
    constexpr T front() const&& { return __elements[0]; }
    constexpr T back() const&& { return __elements[N - 1]; }

    static constexpr size_t size() { return N; }
    static constexpr size_t max_size() { return N; }
    static constexpr bool empty() { return N == 0; }
    void fill(T value) {
        for (size_t i = 0; i < N; ++i) __elements[i] = value;
    }

    // Not templates: those would not deduce an array of another address space.
    friend constexpr bool operator==(const array& a, const array& b) {
        for (size_t i = 0; i < N; ++i)
            if (!(a[i] == b[i])) return false;
        return true;
    }
    friend constexpr bool operator!=(const array& a, const array& b) { return !(a == b); }
};

template <class T> struct is_array_container : false_type {};
template <class T, size_t N> struct is_array_container<array<T, N>> : true_type {};

template <class T> constexpr remove_reference_t<T>&& move(T&& value) {
    return static_cast<remove_reference_t<T>&&>(value);
}
template <class T> constexpr T&& forward(remove_reference_t<T>& value) { return static_cast<T&&>(value); }

template <class T> KFP_INLINE void swap(T& a, T& b) {
    const __kfp::plain<T> before = a;
    a = b;
    b = before;
}

template <class T, class U> struct pair {
    T first;
    U second;
};

// A value that is the same for all threads; this device has no use for the knowledge.
template <class T> using uniform = T;
template <class T> constexpr T make_uniform(T value) { return value; }

}  // namespace metal

#endif
