/* An image as the front end would make it, written by hand: the ABI in C, one kernel for each way of synchronising. */
#include "kfp_abi.h"

void __kfp_threadgroup_barrier(void);
const struct kfp_simd_frame* __kfp_simd_exchange(const void* value, unsigned bytes, unsigned width, unsigned* lane);

#define ENTRY __attribute__((visibility("default"))) void
#define ARGUMENTS const struct kfp_launch *launch, unsigned x, unsigned y, unsigned z

static unsigned global_index(ARGUMENTS) {
    const unsigned* position = launch->threadgroup_position_in_grid;
    const unsigned* shape = launch->dispatch_threads_per_threadgroup;
    const unsigned* grid = launch->threads_per_grid;
    return (position[0] * shape[0] + x) + grid[0] * ((position[1] * shape[1] + y) + grid[1] * (position[2] * shape[2] + z));
}

static unsigned local_index(ARGUMENTS) {
    const unsigned* shape = launch->threads_per_threadgroup;
    return x + shape[0] * (y + shape[1] * z);
}

static unsigned local_count(const struct kfp_launch* launch) {
    const unsigned* shape = launch->threads_per_threadgroup;
    return shape[0] * shape[1] * shape[2];
}

/* 0, plain: out[i] = i + 1 */
ENTRY __kfp_thread_0(ARGUMENTS) {
    unsigned i = global_index(launch, x, y, z);
    ((unsigned*)launch->buffers[0])[i] = i + 1;
}
ENTRY __kfp_group_0(const struct kfp_launch* launch) {
    const unsigned* shape = launch->threads_per_threadgroup;
    for (unsigned z = 0; z < shape[2]; ++z)
        for (unsigned y = 0; y < shape[1]; ++y)
            for (unsigned x = 0; x < shape[0]; ++x) __kfp_thread_0(launch, x, y, z);
}

/* 1, barriers: 100 times, each thread takes over its right neighbour's value (threadgroup memory, two copies). */
ENTRY __kfp_thread_1(ARGUMENTS) {
    unsigned i = local_index(launch, x, y, z), count = local_count(launch);
    unsigned* a = (unsigned*)launch->threadgroup_arguments[0];
    unsigned* b = (unsigned*)launch->threadgroup_memory;
    a[i] = global_index(launch, x, y, z);
    __kfp_threadgroup_barrier();
    for (unsigned round = 0; round < 50; ++round) {
        b[i] = a[(i + 1) % count];
        __kfp_threadgroup_barrier();
        a[i] = b[(i + 1) % count];
        __kfp_threadgroup_barrier();
    }
    ((unsigned*)launch->buffers[0])[global_index(launch, x, y, z)] = a[i];
}

/* 2, early return: every third thread leaves before the barrier; the others add up what came before. */
ENTRY __kfp_thread_2(ARGUMENTS) {
    unsigned i = local_index(launch, x, y, z), count = local_count(launch);
    unsigned* values = (unsigned*)launch->threadgroup_arguments[0];
    values[i] = i;
    if (i % 3 == 0) return;
    __kfp_threadgroup_barrier();
    unsigned sum = 0;
    for (unsigned k = 0; k < count; ++k) sum += values[k];
    ((unsigned*)launch->buffers[0])[global_index(launch, x, y, z)] = sum;
}

static unsigned sum_of(const struct kfp_simd_frame* frame) {
    unsigned sum = 0;
    for (unsigned lane = 0; lane < KFP_SIMD_WIDTH; ++lane)
        if (frame->active >> lane & 1) sum += *(const unsigned*)frame->slots[lane];
    return sum;
}

/* 3, simdgroup sums in a loop, then a barrier and a quadgroup sum. */
ENTRY __kfp_thread_3(ARGUMENTS) {
    unsigned lane, value = global_index(launch, x, y, z) % 97;
    for (unsigned round = 0; round < 10; ++round) {
        unsigned term = value % 1009 + round;
        value = sum_of(__kfp_simd_exchange(&term, sizeof term, 32, &lane));
        if (round == 5) __kfp_threadgroup_barrier();
        value += lane;
    }
    unsigned total = sum_of(__kfp_simd_exchange(&value, sizeof value, 4, &lane));
    ((unsigned*)launch->buffers[0])[global_index(launch, x, y, z)] = total;
}

/* 4, divergent: odd lanes sum first among themselves, then all lanes together; lane 5 has returned. */
ENTRY __kfp_thread_4(ARGUMENTS) {
    unsigned lane, i = local_index(launch, x, y, z), one = 1, odd = 0;
    if (i % 32 == 5) return;
    /* Expected, so that it stays in line: the exchange at the lowest address goes first. */
    if (__builtin_expect(i % 2 == 1, 1)) odd = sum_of(__kfp_simd_exchange(&one, sizeof one, 32, &lane));
    unsigned all = sum_of(__kfp_simd_exchange(&one, sizeof one, 32, &lane));
    ((unsigned*)launch->buffers[0])[global_index(launch, x, y, z)] = odd * 100 + all;
}

/* 5, atomics from every thread of the grid. */
ENTRY __kfp_thread_5(ARGUMENTS) {
    (void)x, (void)y, (void)z;
    __atomic_fetch_add((unsigned*)launch->buffers[0], 1, __ATOMIC_RELAXED);
}
ENTRY __kfp_group_5(const struct kfp_launch* launch) {
    for (unsigned i = 0; i < local_count(launch); ++i) __kfp_thread_5(launch, 0, 0, 0);
}

/* 6, faults, chosen by the first word of buffer 1. */
static unsigned recurse(unsigned depth) {
    volatile char frame[1024];
    frame[depth % 1024] = (char)depth;
    return depth == 0xFFFFFFFF ? 0 : recurse(depth + 1) + (unsigned)frame[depth % 1024];
}
ENTRY __kfp_thread_6(ARGUMENTS) {
    volatile unsigned* out = (volatile unsigned*)launch->buffers[0];
    volatile unsigned zero = 0;
    (void)x, (void)y, (void)z;
    switch (*(const unsigned*)launch->buffers[1]) {
        case 0: out[25] = 1; break;
        case 1: zero = out[-1 - (1 << 20)]; break;
        case 2: *(volatile unsigned*)(8UL + zero) = 1; break;
        case 3: *(volatile unsigned*)0x7000000000000000 = 1; break;
        case 4: out[0] = recurse(0); break;
        case 5: out[0] = out[1] / zero; break;
        case 6: __builtin_trap();
        case 7: ((volatile char*)launch->threadgroup_memory)[1 << 20] = 1; break;
        case 8: *(volatile unsigned*)launch->buffers[2] = 1; break;
        case 9: *(volatile unsigned*)&__kfp_thread_6 = 1; break;
        case 10: ((void (*)(void))(launch->buffers[0]))(); break;
        default: break;
    }
}
ENTRY __kfp_group_6(const struct kfp_launch* launch) { __kfp_thread_6(launch, 0, 0, 0); }

/* 7, the same, but on a fiber. */
ENTRY __kfp_thread_7(ARGUMENTS) {
    __kfp_threadgroup_barrier();
    __kfp_thread_6(launch, x, y, z);
}

/* 8, racy: the last thread to write wins. */
ENTRY __kfp_thread_8(ARGUMENTS) { *(unsigned*)launch->buffers[0] = global_index(launch, x, y, z); }
ENTRY __kfp_group_8(const struct kfp_launch* launch) {
    for (unsigned i = 0; i < local_count(launch); ++i) __kfp_thread_8(launch, i, 0, 0);
}

/* 9, reads threadgroup memory that nobody wrote. */
ENTRY __kfp_thread_9(ARGUMENTS) {
    ((unsigned*)launch->buffers[0])[global_index(launch, x, y, z)] = ((unsigned*)launch->threadgroup_memory)[0];
}
ENTRY __kfp_group_9(const struct kfp_launch* launch) { __kfp_thread_9(launch, 0, 0, 0); }

/* 10, nothing at all; 11, nothing but `rounds` barriers (buffer 0). */
ENTRY __kfp_thread_10(ARGUMENTS) { (void)launch, (void)x, (void)y, (void)z; }
ENTRY __kfp_group_10(const struct kfp_launch* launch) { (void)launch; }
ENTRY __kfp_thread_11(ARGUMENTS) {
    (void)x, (void)y, (void)z;
    for (unsigned round = *(const unsigned*)launch->buffers[0]; round > 0; --round) __kfp_threadgroup_barrier();
}
/* 12, nothing but `rounds` simdgroup sums. */
ENTRY __kfp_thread_12(ARGUMENTS) {
    unsigned lane;
    (void)x, (void)y, (void)z;
    for (unsigned round = *(const unsigned*)launch->buffers[0]; round > 0; --round)
        __kfp_simd_exchange(&round, sizeof round, 32, &lane);
}
