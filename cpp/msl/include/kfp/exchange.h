// What every simdgroup and quadgroup function is built on: each lane deposits a value and sees those of the others.
#ifndef KFP_EXCHANGE_H
#define KFP_EXCHANGE_H

#include "address_spaces.h"
#include "signatures.h"
#include "sync.h"

namespace __kfp {

constexpr constant uint simdgroup_width = KFP_SIMD_WIDTH;
constexpr constant uint quadgroup_width = 4;

// Elements of up to 32 bits that aren't bool, and vectors of them.
template <class T> constexpr constant bool is_lane_value = __is_arithmetic(T) && !__is_same(T, bool) && sizeof(T) <= 4;
template <class T, int N> constexpr constant bool is_lane_value<vec<T, N>> = is_lane_value<T>;
template <> constexpr constant bool is_lane_value<bfloat> = true;

template <class T> constexpr constant bool is_integer_lane_value = is_lane_value<T> && __is_integral(T);
template <class T, int N> constexpr constant bool is_integer_lane_value<vec<T, N>> = is_integer_lane_value<T>;

template <class T> using lane_value = metal::enable_if_t<is_lane_value<T>, T>;
template <class T> using integer_lane_value = metal::enable_if_t<is_integer_lane_value<T>, T>;

// The values of one exchange. Lanes are numbered within the group, whose first lane in the frame is `base`.
template <class T>
struct Exchanged {
    const __global kfp_simd_frame* frame;
    T own;
    uint lane;
    uint base;
    uint active;

    KFP_INLINE bool has(uint i) const { return active >> i & 1; }
    KFP_INLINE T at(uint i) const { return *(const __global T*)frame->slots[base + i]; }

    // The own value where the lane asked for takes no part or doesn't exist.
    KFP_INLINE T from(uint i) const { return i < simdgroup_width && has(i) ? at(i) : own; }
};

template <uint width, class T>
KFP_INLINE Exchanged<T> exchange(T value) {
    static_assert(sizeof(T) <= KFP_SLOT_BYTES);
    uint lane;
    const __global kfp_simd_frame* frame = __kfp_simd_exchange(&value, sizeof(T), width, &lane);
    const uint base = lane / width * width;
    const uint active = width == simdgroup_width ? frame->active : frame->active >> base & ((1u << (width & 31)) - 1);
    return {frame, value, lane - base, base, active};
}

template <uint width, class T> KFP_INLINE T shuffle(T value, uint lane) {
    const Exchanged<T> all = exchange<width>(value);
    return all.from(lane);
}

template <uint width, class T> KFP_INLINE T broadcast_first(T value) {
    const Exchanged<T> all = exchange<width>(value);
    return all.at(__builtin_ctz(all.active));
}

template <uint width, class T> KFP_INLINE T shuffle_xor(T value, uint mask) {
    const Exchanged<T> all = exchange<width>(value);
    return all.from(all.lane ^ mask);
}

template <uint width, class T> KFP_INLINE T shuffle_up(T value, uint delta) {
    const Exchanged<T> all = exchange<width>(value);
    return all.lane >= delta ? all.from(all.lane - delta) : value;
}

template <uint width, class T> KFP_INLINE T shuffle_down(T value, uint delta) {
    const Exchanged<T> all = exchange<width>(value);
    return all.from(all.lane + delta);
}

template <uint width, class T> KFP_INLINE T rotate_up(T value, uint delta) {
    const Exchanged<T> all = exchange<width>(value);
    return all.from((all.lane - delta) % width);
}

template <uint width, class T> KFP_INLINE T rotate_down(T value, uint delta) {
    const Exchanged<T> all = exchange<width>(value);
    return all.from((all.lane + delta) % width);
}

// Within each block of `modulo` lanes, lanes that have no lane `delta` below (above) them take the filling of the lanes
// at the block's other end.
template <uint width, class T> KFP_INLINE T fill_up(T value, T filling, uint delta, uint modulo) {
    const Exchanged<T> values = exchange<width>(value);
    const uint position = values.lane % modulo;
    const uint start = values.lane - position;
    const T shuffled = position >= delta ? values.from(values.lane - delta) : value;
    const T filled = exchange<width>(filling).from(start + (position + modulo - delta % modulo) % modulo);
    return position >= delta ? shuffled : filled;
}

template <uint width, class T> KFP_INLINE T fill_down(T value, T filling, uint delta, uint modulo) {
    const Exchanged<T> values = exchange<width>(value);
    const uint position = values.lane % modulo;
    const uint start = values.lane - position;
    const bool inside = position + delta < modulo;
    const T shuffled = inside ? values.from(values.lane + delta) : value;
    const T filled = exchange<width>(filling).from(start + (position + delta) % modulo);
    return inside ? shuffled : filled;
}

struct Sum { template <class T> KFP_INLINE T operator()(T a, T b) const { return T(a + b); } };
struct Product { template <class T> KFP_INLINE T operator()(T a, T b) const { return T(a * b); } };
struct BitAnd { template <class T> KFP_INLINE T operator()(T a, T b) const { return T(a & b); } };
struct BitOr { template <class T> KFP_INLINE T operator()(T a, T b) const { return T(a | b); } };
struct BitXor { template <class T> KFP_INLINE T operator()(T a, T b) const { return T(a ^ b); } };
struct Minimum { template <class T> KFP_INLINE T operator()(T a, T b) const { return metal::min(a, b); } };
struct Maximum { template <class T> KFP_INLINE T operator()(T a, T b) const { return metal::max(a, b); } };

// What is computed from a frame stays out of line, as it is long; the exchange itself must not: the runtime tells call
// sites by the return address.
#define KFP_OUT_OF_LINE __attribute__((noinline))

// Every lane gets the same result, as all of them combine in the same order. Four chains make a full group's sum
// quicker, and more exact.
template <uint width, class F, class T> KFP_OUT_OF_LINE T reduced(Exchanged<T> all) {
    const F f;
    if (all.active == (width == 32 ? ~0u : (1u << (width & 31)) - 1)) {
        T part[4] = {all.at(0), all.at(1), all.at(2), all.at(3)};
#pragma clang loop unroll(disable)
        for (uint i = 4; i < width; i += 4)
            for (uint k = 0; k < 4; ++k) part[k] = f(part[k], all.at(i + k));
        return f(f(part[0], part[1]), f(part[2], part[3]));
    }
    uint i = __builtin_ctz(all.active);
    T result = all.at(i);
#pragma clang loop unroll(disable)
    for (++i; i < width; ++i)
        if (all.has(i)) result = f(result, all.at(i));
    return result;
}

// Of the active lanes before this one, on top of `start`.
template <class F, class T> KFP_OUT_OF_LINE T reduced_before(Exchanged<T> all, T start) {
    const F f;
#pragma clang loop unroll(disable)
    for (uint i = 0; i < all.lane; ++i)
        if (all.has(i)) start = f(start, all.at(i));
    return start;
}

template <uint width> KFP_OUT_OF_LINE uint votes_of(Exchanged<uchar> all) {
    uint votes = 0;
#pragma clang loop unroll(disable)
    for (uint i = 0; i < width; ++i) votes |= (uint(all.at(i)) & 1) << i;  // an absent lane has left anything
    return votes & all.active;
}

#undef KFP_OUT_OF_LINE

template <uint width, class F, class T> KFP_INLINE T reduce(T value) {
    return reduced<width, F>(exchange<width>(value));
}
template <uint width, class F, class T> KFP_INLINE T prefix(T value, T start) {
    return reduced_before<F>(exchange<width>(value), start);
}
template <uint width> KFP_INLINE uint ballot(bool value) { return votes_of<width>(exchange<width>(uchar(value))); }
template <uint width> KFP_INLINE uint active_lanes() { return exchange<width>(uchar(0)).active; }

template <uint width> KFP_INLINE bool is_first_lane() {
    const Exchanged<uchar> all = exchange<width>(uchar(0));
    return all.lane == uint(__builtin_ctz(all.active));
}

}  // namespace __kfp

// The functions that simdgroups and quadgroups have in common.
#define KFP_LANE_FUNCTION(group, name)                                                                            \
    template <class T> KFP_INLINE __kfp::lane_value<T> group##_##name

#define KFP_GROUP_FUNCTIONS(group, width)                                                                         \
    KFP_LANE_FUNCTION(group, broadcast)(T data, ushort lane) { return __kfp::shuffle<width>(data, lane); }        \
    KFP_LANE_FUNCTION(group, broadcast_first)(T data) { return __kfp::broadcast_first<width>(data); }             \
    KFP_LANE_FUNCTION(group, shuffle)(T data, ushort lane) { return __kfp::shuffle<width>(data, lane); }          \
    KFP_LANE_FUNCTION(group, shuffle_xor)(T data, ushort mask) { return __kfp::shuffle_xor<width>(data, mask); }  \
    KFP_LANE_FUNCTION(group, shuffle_up)(T data, ushort delta) { return __kfp::shuffle_up<width>(data, delta); }  \
    KFP_LANE_FUNCTION(group, shuffle_down)(T data, ushort delta) {                                                \
        return __kfp::shuffle_down<width>(data, delta);                                                           \
    }                                                                                                             \
    KFP_LANE_FUNCTION(group, shuffle_rotate_up)(T data, ushort delta) {                                           \
        return __kfp::rotate_up<width>(data, delta);                                                              \
    }                                                                                                             \
    KFP_LANE_FUNCTION(group, shuffle_rotate_down)(T data, ushort delta) {                                         \
        return __kfp::rotate_down<width>(data, delta);                                                            \
    }                                                                                                             \
    KFP_LANE_FUNCTION(group, shuffle_and_fill_up)                                                                 \
    (T data, metal::type_identity_t<T> filling, ushort delta, ushort modulo = width) {                            \
        return __kfp::fill_up<width>(data, filling, delta, modulo);                                               \
    }                                                                                                             \
    KFP_LANE_FUNCTION(group, shuffle_and_fill_down)                                                               \
    (T data, metal::type_identity_t<T> filling, ushort delta, ushort modulo = width) {                            \
        return __kfp::fill_down<width>(data, filling, delta, modulo);                                             \
    }                                                                                                             \
    KFP_LANE_FUNCTION(group, sum)(T data) { return __kfp::reduce<width, __kfp::Sum>(data); }                      \
    KFP_LANE_FUNCTION(group, product)(T data) { return __kfp::reduce<width, __kfp::Product>(data); }              \
    KFP_LANE_FUNCTION(group, min)(T data) { return __kfp::reduce<width, __kfp::Minimum>(data); }                  \
    KFP_LANE_FUNCTION(group, max)(T data) { return __kfp::reduce<width, __kfp::Maximum>(data); }                  \
    KFP_LANE_FUNCTION(group, prefix_exclusive_sum)(T data) {                                                      \
        return __kfp::prefix<width, __kfp::Sum>(data, T(0));                                                      \
    }                                                                                                             \
    KFP_LANE_FUNCTION(group, prefix_inclusive_sum)(T data) {                                                      \
        return T(__kfp::prefix<width, __kfp::Sum>(data, T(0)) + data);                                            \
    }                                                                                                             \
    KFP_LANE_FUNCTION(group, prefix_exclusive_product)(T data) {                                                  \
        return __kfp::prefix<width, __kfp::Product>(data, T(1));                                                  \
    }                                                                                                             \
    KFP_LANE_FUNCTION(group, prefix_inclusive_product)(T data) {                                                  \
        return T(__kfp::prefix<width, __kfp::Product>(data, T(1)) * data);                                        \
    }                                                                                                             \
    template <class T> KFP_INLINE __kfp::integer_lane_value<T> group##_and(T data) {                              \
        return __kfp::reduce<width, __kfp::BitAnd>(data);                                                         \
    }                                                                                                             \
    template <class T> KFP_INLINE __kfp::integer_lane_value<T> group##_or(T data) {                               \
        return __kfp::reduce<width, __kfp::BitOr>(data);                                                          \
    }                                                                                                             \
    template <class T> KFP_INLINE __kfp::integer_lane_value<T> group##_xor(T data) {                              \
        return __kfp::reduce<width, __kfp::BitXor>(data);                                                         \
    }                                                                                                             \
    KFP_INLINE group##_vote group##_ballot(bool value) { return group##_vote(__kfp::ballot<width>(value)); }      \
    KFP_INLINE group##_vote group##_active_threads_mask() { return group##_vote(__kfp::active_lanes<width>()); }  \
    KFP_INLINE bool group##_all(bool value) { return __kfp::ballot<width>(!value) == 0; }                         \
    KFP_INLINE bool group##_any(bool value) { return __kfp::ballot<width>(value) != 0; }                          \
    KFP_INLINE bool group##_is_first() { return __kfp::is_first_lane<width>(); }                                  \
    KFP_INLINE bool group##_is_helper_thread() { return false; }

#endif
