// Barriers and fences. A barrier is an opaque call, so the compiler moves no memory access across it; the runtime's
// handover between threads orders the hardware.
#ifndef KFP_SYNC_H
#define KFP_SYNC_H

#include "address_spaces.h"

extern "C" {
__attribute__((convergent)) void __kfp_threadgroup_barrier(void);
// Deposits `bytes` of the value, waits for the lanes at the same call site and returns what all of them brought.
__attribute__((convergent)) const __global struct kfp_simd_frame* __kfp_simd_exchange(
    const __private void* value, unsigned bytes, unsigned width, __private unsigned* lane);
}

namespace __kfp {

KFP_INLINE void exchange_nothing(unsigned width) {
    char nothing = 0;
    unsigned lane;
    __kfp_simd_exchange(&nothing, 0, width, &lane);
}

// Behind a statement that may part the lanes of a simdgroup, between them and their next operation together.
template <unsigned level>
KFP_INLINE void reconverge() { exchange_nothing(KFP_MEETING + level); }

template <unsigned level>
KFP_INLINE bool reconverged(bool condition) {
    reconverge<level>();
    return condition;
}

}  // namespace __kfp

namespace metal {

enum class mem_flags {
    mem_none = 0,
    mem_device = 1,
    mem_threadgroup = 2,
    mem_texture = 4,
    mem_threadgroup_imageblock = 8,
    mem_object_data = 16,
};

KFP_CONSTEXPR mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(int(a) | int(b)); }
KFP_CONSTEXPR mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(int(a) & int(b)); }

enum memory_order {
    memory_order_relaxed = __ATOMIC_RELAXED,
    memory_order_acquire = __ATOMIC_ACQUIRE,
    memory_order_release = __ATOMIC_RELEASE,
    memory_order_acq_rel = __ATOMIC_ACQ_REL,
    memory_order_seq_cst = __ATOMIC_SEQ_CST,
};

enum thread_scope {
    thread_scope_thread,
    thread_scope_simdgroup,
    thread_scope_threadgroup,
    thread_scope_device,
};

KFP_INLINE void threadgroup_barrier(mem_flags) { __kfp_threadgroup_barrier(); }

KFP_INLINE void simdgroup_barrier(mem_flags) { __kfp::exchange_nothing(KFP_SIMD_WIDTH); }

KFP_INLINE void atomic_thread_fence(mem_flags, memory_order order, thread_scope = thread_scope_device) {
    if (order != memory_order_relaxed) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

}  // namespace metal

#endif
