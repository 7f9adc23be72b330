/* What a compiled image and the runtime of the `cpu` device agree on. Read by the host (C++), by the runtime glue (C)
   and, inside the precompiled prelude, by the candidate's own translation unit (C++ for OpenCL): plain C only. */
#ifndef KFP_ABI_H
#define KFP_ABI_H

#define KFP_ABI_VERSION 3
#define KFP_SIMD_WIDTH 32
#define KFP_MAX_BINDINGS 31
#define KFP_SLOT_BYTES 16
/* As the width of an exchange: all lanes meet here again after a statement that parted them; plus the number of
   statements around it that may part lanes. */
#define KFP_MEETING 256

#ifdef __OPENCL_CPP_VERSION__
#define KFP_GLOBAL __global
#define KFP_LOCAL __local
#else
#define KFP_GLOBAL
#define KFP_LOCAL
#endif

/* One threadgroup's view of a dispatch. */
struct kfp_launch {
    char KFP_GLOBAL* buffers[KFP_MAX_BINDINGS];                /* by [[buffer(n)]] */
    char KFP_LOCAL* threadgroup_arguments[KFP_MAX_BINDINGS];   /* by [[threadgroup(n)]] */
    char KFP_LOCAL* threadgroup_memory;                        /* the kernel's own threadgroup variables */
    unsigned threads_per_grid[3];
    unsigned dispatch_threads_per_threadgroup[3];              /* as dispatched */
    unsigned threads_per_threadgroup[3];                       /* of this group: smaller at a ragged edge */
    unsigned threadgroups_per_grid[3];
    unsigned threadgroup_position_in_grid[3];
};

/* Every image exports, for its kernel number i (order of CompileReport::kernels), one of
     void __kfp_thread_<i>(const struct kfp_launch*, unsigned x, unsigned y, unsigned z)   one thread
     void __kfp_group_<i>(const struct kfp_launch*)   a whole threadgroup
   the second where the kernel never synchronises and the image is not for the checked mode;
   and, from the runtime glue that is linked into it, `const struct kfp_runtime* __kfp_runtime`, which the loader sets
   before anything runs and makes read-only afterwards. */

/* What one simdgroup (or quadgroup) operation sees: the lanes that take part and the value that each brought. */
struct kfp_simd_frame {
    unsigned char slots[KFP_SIMD_WIDTH][KFP_SLOT_BYTES] __attribute__((aligned(16)));
    unsigned active; /* bit n: lane n takes part */
};

/* Inside the image these are functions of the glue: __kfp_threadgroup_barrier(), __kfp_simd_exchange(...). */
#ifndef __OPENCL_CPP_VERSION__
struct kfp_runtime {
    unsigned abi_version;
    /* Returns when every thread of the threadgroup that has not returned is here. */
    void (*threadgroup_barrier)(void);
    /* Deposits `bytes` (at most KFP_SLOT_BYTES) for this thread, waits for the other lanes of its simdgroup (width 32)
       or quadgroup (width 4) that are at the same call site, and returns their common frame. Of lanes at different
       sites those go first that are at no meeting, then those at the innermost meeting. The frame stays valid
       until the thread's next exchange or barrier. *lane: the caller's lane within the simdgroup (0 to 31), whatever the width. */
    const struct kfp_simd_frame* (*simd_exchange)(const void* value, unsigned bytes, unsigned width, unsigned* lane);
    /* Of an image that counts what it runs, where; null in all others. */
    unsigned long* counters;
};
#endif

#endif
