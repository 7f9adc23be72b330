// What the entry points of an image need: from a kfp_launch to the arguments of a kernel.
#ifndef KFP_LAUNCH_H
#define KFP_LAUNCH_H

#include "kfp_abi.h"
#include "kfp/address_spaces.h"
#include "kfp/vector.h"

namespace __kfp {

// A threadgroup variable of type T: number ID of its kernel. Size and alignment are arguments so that they appear in the
// deprecation warning, which is how the driver learns them in a pass without code generation.
template <class T, int ID, unsigned long size, unsigned long alignment>
[[deprecated]] inline __attribute__((always_inline)) __local T& slot(__local char* memory) {
    return *(__local T*)(memory + (unsigned long)ID * KFP_THREADGROUP_SLOT_BYTES);
}

template <class T, class... Bytes>
constexpr T constant_value(Bytes... bytes) {
    struct raw {
        unsigned char v[sizeof...(Bytes)];
    };
    return __builtin_bit_cast(T, raw{{bytes...}});
}

// The value of an operand of ?:. Operands of a class type in two address spaces have no common type, their values have.
template <class T> struct value_of { typedef T type; };
template <class T> struct value_of<T&> : value_of<T> {};
template <class T> struct value_of<T&&> : value_of<T> {};
template <class T> struct value_of<const T> : value_of<T> {};
template <class T> struct value_of<volatile T> : value_of<T> {};
template <class T> struct value_of<const volatile T> : value_of<T> {};
#define KFP_VALUE_IN(space) \
    template <class T> struct value_of<space T> : value_of<T> {}; \
    template <class T> struct value_of<const space T> : value_of<T> {}; \
    template <class T> struct value_of<volatile space T> : value_of<T> {}; \
    template <class T> struct value_of<const volatile space T> : value_of<T> {}; \
    template <class T, unsigned long N> struct value_of<space T[N]> { typedef space T* type; }; \
    template <class T, unsigned long N> struct value_of<const space T[N]> { typedef const space T* type; };
KFP_VALUE_IN(__global)
KFP_VALUE_IN(device)
KFP_VALUE_IN(__local)
KFP_VALUE_IN(__private)
KFP_VALUE_IN(__generic)
#undef KFP_VALUE_IN
template <class T>
KFP_CONSTEXPR typename value_of<T>::type value(T&& operand) { return operand; }

// A parameter of the overload that takes temporaries: an object in thread memory, or a temporary, but nothing else.
template <class T>
struct temporary {
    const __private T& object;
    KFP_CONSTEXPR temporary(const __private T& from) : object(from) {}
    KFP_CONSTEXPR temporary(T&& from) : object((const __private T&)from) {}
};

template <class T> KFP_CONSTEXPR __private T* in_thread(__generic T* object) { return (__private T*)object; }
// What a method of device objects returns.
template <class T> KFP_INLINE device T& in_device(__global T& object) { return *(device T*)&object; }
template <class T> KFP_INLINE device T* in_device(__global T* object) { return (device T*)object; }
template <class T> KFP_INLINE device T& in_device(device T& object) { return object; }
template <class T> KFP_INLINE device T* in_device(device T* object) { return object; }

// A vector from a braced list of fewer elements than it has components.
template <class V, class... A>
KFP_CONSTEXPR V listed(A... elements) {
    if constexpr (((__is_arithmetic(A) || __is_enum(A)) && ...)) {
        typedef decltype(V()[0]) T;
        const T x[4] = {T(elements)...};
        if constexpr (sizeof(V) == 2 * sizeof(T)) return V(x[0], x[1]);
        else if constexpr (__is_same(V, vec<T, 3>)) return V(x[0], x[1], x[2]);
        else return V(x[0], x[1], x[2], x[3]);
    } else if constexpr (sizeof...(A) > 1) {
        return V(elements...);
    } else {
        const V v = {elements...};
        return v;
    }
}

struct triple {
    uint x, y, z;
};

// One thread of a launch. What stays unused is never computed.
struct thread_place {
    const kfp_launch& launch;
    uint x, y, z;

    KFP_INLINE triple of(const uint* v) const { return {v[0], v[1], v[2]}; }
    KFP_INLINE static uint up(uint n, uint width) { return (n + width - 1) / width; }
    KFP_INLINE uint threads() const {
        return launch.threads_per_threadgroup[0] * launch.threads_per_threadgroup[1] * launch.threads_per_threadgroup[2];
    }
    KFP_INLINE uint dispatch_threads() const {
        return launch.dispatch_threads_per_threadgroup[0] * launch.dispatch_threads_per_threadgroup[1] *
               launch.dispatch_threads_per_threadgroup[2];
    }

    KFP_INLINE triple position_in_threadgroup() const { return {x, y, z}; }
    KFP_INLINE triple position_in_grid() const {
        return {launch.threadgroup_position_in_grid[0] * launch.dispatch_threads_per_threadgroup[0] + x,
                launch.threadgroup_position_in_grid[1] * launch.dispatch_threads_per_threadgroup[1] + y,
                launch.threadgroup_position_in_grid[2] * launch.dispatch_threads_per_threadgroup[2] + z};
    }
    KFP_INLINE triple threadgroup_position() const { return of(launch.threadgroup_position_in_grid); }
    KFP_INLINE triple threads_per_threadgroup() const { return of(launch.threads_per_threadgroup); }
    KFP_INLINE triple dispatch_threads_per_threadgroup() const { return of(launch.dispatch_threads_per_threadgroup); }
    KFP_INLINE triple threads_per_grid() const { return of(launch.threads_per_grid); }
    KFP_INLINE triple threadgroups_per_grid() const { return of(launch.threadgroups_per_grid); }
    KFP_INLINE triple grid_origin() const { return {0, 0, 0}; }
    KFP_INLINE triple scalar(uint v) const { return {v, 0, 0}; }
    KFP_INLINE uint index() const {
        return (z * launch.threads_per_threadgroup[1] + y) * launch.threads_per_threadgroup[0] + x;
    }
    KFP_INLINE triple index_in_threadgroup() const { return scalar(index()); }
    KFP_INLINE triple index_in_simdgroup() const { return scalar(index() % KFP_SIMD_WIDTH); }
    KFP_INLINE triple simdgroup_index() const { return scalar(index() / KFP_SIMD_WIDTH); }
    KFP_INLINE triple simdgroups_per_threadgroup() const { return scalar(up(threads(), KFP_SIMD_WIDTH)); }
    KFP_INLINE triple dispatch_simdgroups_per_threadgroup() const { return scalar(up(dispatch_threads(), KFP_SIMD_WIDTH)); }
    KFP_INLINE triple simd_width() const { return scalar(KFP_SIMD_WIDTH); }
    KFP_INLINE triple index_in_quadgroup() const { return scalar(index() % 4); }
    KFP_INLINE triple quadgroup_index() const { return scalar(index() / 4); }
    KFP_INLINE triple quadgroups_per_threadgroup() const { return scalar(up(threads(), 4)); }
    KFP_INLINE triple dispatch_quadgroups_per_threadgroup() const { return scalar(up(dispatch_threads(), 4)); }
    KFP_INLINE triple quad_width() const { return scalar(4); }
};

// Bounds of the loops over a threadgroup's threads. A comparison of an unsigned position with any of these types is one
// of unsigned numbers of 32 bits.
template <class T>
constexpr constant bool bounds_positions = __is_integral(T) && sizeof(T) <= 4;
template <class T> constexpr constant bool bounds_positions<T&> = bounds_positions<T>;
template <class T> constexpr constant bool bounds_positions<const T> = bounds_positions<T>;
template <class T> constexpr constant bool bounds_positions<const __global T> = bounds_positions<T>;

template <bool clamps, class T>
KFP_INLINE uint clamped(const kfp_launch& launch, uint axis, uint extent, T bound) {
    if constexpr (clamps) {
        const uint origin = launch.threadgroup_position_in_grid[axis] * launch.dispatch_threads_per_threadgroup[axis];
        const uint left = uint(bound) > origin ? uint(bound) - origin : 0;
        return left < extent ? left : extent;
    }
    return extent;
}

template <class P>
struct argument {
    KFP_INLINE static P input(triple v) { return P(v.x); }
};
template <class T>
struct argument<vec<T, 2>> {
    KFP_INLINE static vec<T, 2> input(triple v) { return vec<T, 2>(T(v.x), T(v.y)); }
};
template <class T>
struct argument<vec<T, 3>> {
    KFP_INLINE static vec<T, 3> input(triple v) { return vec<T, 3>(T(v.x), T(v.y), T(v.z)); }
};
template <class T>
struct argument<T*> {
    template <class Memory>
    KFP_INLINE static T* memory(Memory p) { return (T*)p; }
};
template <class T>
struct argument<T&> {
    template <class Memory>
    KFP_INLINE static T& memory(Memory p) { return *(T*)p; }
};

// An argument by reference to constant memory is read once a threadgroup, where it is small: it can't change meanwhile,
// and a load that every thread makes under a condition of its own would keep the loop over the threads from being
// vectorised well.
template <class T>
struct constant_argument {
    struct copy {
        T value;  // an array too
    } held;
    KFP_INLINE constant_argument(const __global char* from) : held(*(const __global copy*)from) {}
    KFP_INLINE const __global T& get() const { return __builtin_bit_cast(const __global copy*, &held)->value; }
};
template <class T>
struct memory_argument {
    const __global T* place;
    KFP_INLINE memory_argument(const __global char* from) : place((const __global T*)from) {}
    KFP_INLINE const __global T& get() const { return *place; }
};
constexpr unsigned long constant_argument_bytes = 64;
template <bool small, class T> struct choose_argument { typedef memory_argument<T> type; };
template <class T> struct choose_argument<true, T> { typedef constant_argument<T> type; };
template <class T>
struct argument<const __global T&> {
    template <class Memory>
    KFP_INLINE static const __global T& memory(Memory p) { return *(const __global T*)p; }
    typedef typename choose_argument<sizeof(T) <= constant_argument_bytes && __is_trivially_copyable(T), T>::type held;
};

#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
template <class F>
struct signature;
template <class R, class... P>
struct signature<R(P...)> {
    template <int I>
    using parameter = argument<__type_pack_element<I, P...>>;
};
#pragma OPENCL EXTENSION __cl_clang_function_pointers : disable

// As in instantiate.h: what most entry points are made of.
template <class T>
inline void instantiate_argument(const kfp_launch& launch) {
    typename argument<const __global T&>::held held(launch.buffers[0]);
    T read = value(held.get());
    device T* written = argument<device T*>::memory(launch.buffers[0]);
    *written = value(*written) + value(*argument<const device T*>::memory(launch.buffers[0])) + value(read);
}

inline void instantiate_launch(const kfp_launch& launch) {
    instantiate_argument<uint>(launch);
    instantiate_argument<int>(launch);
    instantiate_argument<float>(launch);
    instantiate_argument<ulong>(launch);
    (void)argument<device float4*>::memory(launch.buffers[0]);
    (void)argument<const device float4*>::memory(launch.buffers[0]);
    const thread_place place{launch, 0, 0, 0};
    const uint x = argument<uint>::input(place.position_in_grid());
    const uint2 xy = argument<uint2>::input(place.position_in_threadgroup());
    const uint3 xyz = argument<uint3>::input(place.threadgroup_position());
    (void)(x + xy.x + xyz.x);
    (void)clamped<true>(launch, 0, x, x);
    (void)clamped<false>(launch, 0, x, x);
}

}  // namespace __kfp

#endif
