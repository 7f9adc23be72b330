/* Linked into every image: the candidate's only way to the runtime. */
#include "kfp_abi.h"

__attribute__((visibility("default"))) const struct kfp_runtime* __kfp_runtime;

void __kfp_threadgroup_barrier(void) {
    __kfp_runtime->threadgroup_barrier();
}

const struct kfp_simd_frame* __kfp_simd_exchange(const void* value, unsigned bytes, unsigned width, unsigned* lane) {
    return __kfp_runtime->simd_exchange(value, bytes, width, lane);
}
