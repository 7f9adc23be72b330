#include <metal_stdlib>
#include <metal_atomic>
using namespace metal;

struct Shared {
    atomic_int low;
    atomic_int high;
    atomic_uint count;
};

inline void atomic_add_float_cas(device atomic_uint* target, float value) {
    uint expected = atomic_load_explicit(target, memory_order_relaxed);
    uint desired;
    do {
        desired = as_type<uint>(as_type<float>(expected) + value);
    } while (!atomic_compare_exchange_weak_explicit(target, &expected, desired, memory_order_relaxed, memory_order_relaxed));
}

kernel void extrema(device const int* in [[buffer(0)]], device Shared* result [[buffer(1)]], device atomic_uint* fsum [[buffer(2)]],
                    volatile device atomic_uint* ticket [[buffer(3)]], uint gid [[thread_position_in_grid]],
                    uint lid [[thread_position_in_threadgroup]]) {
    threadgroup atomic_int tg_min, tg_max;
    threadgroup uint last;
    if (lid == 0) {
        atomic_store_explicit(&tg_min, INT_MAX, memory_order_relaxed);
        atomic_store_explicit(&tg_max, INT_MIN, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const int v = in[gid];
    atomic_fetch_min_explicit(&tg_min, v, memory_order_relaxed);
    atomic_fetch_max_explicit(&tg_max, v, memory_order_relaxed);
    atomic_add_float_cas(fsum, float(v));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lid == 0) {
        atomic_fetch_min_explicit(&result->low, atomic_load_explicit(&tg_min, memory_order_relaxed), memory_order_relaxed);
        atomic_fetch_max_explicit(&result->high, atomic_load_explicit(&tg_max, memory_order_relaxed), memory_order_relaxed);
        last = atomic_fetch_add_explicit(ticket, 1u, memory_order_relaxed);
        atomic_fetch_or_explicit(&result->count, 1u << (last & 31u), memory_order_relaxed);
        atomic_fetch_xor_explicit(&result->count, 0u, memory_order_relaxed);
        atomic_exchange_explicit(ticket, last, memory_order_relaxed);
    }
}
