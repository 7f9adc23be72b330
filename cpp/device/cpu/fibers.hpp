// The threads of one threadgroup as fibers of one host thread: barriers and simdgroup operations switch between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/cpu/context_switch.hpp"
#include "device/cpu/memory.hpp"
#include "device/cpu/sanitizer.hpp"
#include "msl/include/kfp_abi.h"

namespace kfp::cpu {

constexpr unsigned simd_width = KFP_SIMD_WIDTH;
constexpr unsigned quad_width = 4;
constexpr unsigned max_threads_per_threadgroup = 1024;
constexpr unsigned max_simdgroups = max_threads_per_threadgroup / simd_width;

using Extent = std::array<std::uint32_t, 3>;
using ThreadEntry = void (*)(const kfp_launch*, unsigned x, unsigned y, unsigned z);
using GroupEntry = void (*)(const kfp_launch*);

// A small generator for orders that only have to differ.
class OrderGenerator {
public:
    explicit OrderGenerator(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    // Uniform enough below a small bound.
    std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>((next() >> 32) * bound >> 32); }

private:
    std::uint64_t state_;
};

// One stack per fiber in one mapping, an inaccessible guard below each.
class FiberStacks {
public:
    static constexpr std::size_t stack_bytes = std::size_t{512} << 10;
    // With the stack an odd number of pages, so that the stacks' tops spread over all sets of the processor's TLB.
    static constexpr std::size_t guard_bytes = std::size_t{68} << 10;

    FiberStacks();
    void reserve(unsigned count);  // allocates; throws std::bad_alloc
    unsigned count() const { return count_; }
    std::byte* bottom(unsigned index) const { return mapping_.begin() + index * stride + guard_bytes; }
    std::byte* top(unsigned index) const;
    StackBounds bounds(unsigned index) const { return {bottom(index), stack_bytes}; }
    // For signal handlers: whether `address` lies in the guard of a stack.
    bool is_guard(const void* address) const;

private:
    static constexpr std::size_t stride = stack_bytes + guard_bytes;

    Mapping mapping_;
    unsigned count_ = 0;
};

class FiberScheduler {
public:
    FiberScheduler();
    FiberScheduler(const FiberScheduler&) = delete;
    FiberScheduler& operator=(const FiberScheduler&) = delete;

    // Makes fibers for threadgroups of up to `threads`; run() allocates nothing.
    void reserve(unsigned threads);
    // Runs every thread of the threadgroup that `launch` describes. With `order`, in an order drawn from it.
    void run(const kfp_launch& launch, ThreadEntry entry, OrderGenerator* order);

    const FiberStacks& stacks() const { return stacks_; }
    // The position in its threadgroup of the thread that runs, or ran last.
    Extent running_thread() const { return coordinates_[thread_index()]; }

    void threadgroup_barrier();
    const kfp_simd_frame* simd_exchange(const void* value, unsigned bytes, unsigned width, unsigned* lane, const void* return_address);

private:
    // A lane that has not returned is in exactly one of the three sets; bit n stands for lane n.
    struct Simdgroup {
        std::uint32_t runnable = 0;
        std::uint32_t at_barrier = 0;
        std::uint32_t at_exchange = 0;
        std::uint32_t at_quad_exchange = 0;  // a subset of at_exchange
        std::array<Context, simd_width> contexts{};
        std::array<std::uint64_t, simd_width> sites{};  // where each lane waits; the lowest goes first
        alignas(16) std::array<std::array<unsigned char, KFP_SLOT_BYTES>, simd_width> deposits{};
        kfp_simd_frame frame{};
        std::array<kfp_simd_frame, simd_width / quad_width> quad_frames{};
    };

    static void fiber_main(void* scheduler);
    unsigned group_index() const { return static_cast<unsigned>(group_ - groups_->data()); }
    unsigned thread_index() const { return group_index() * simd_width + lane_; }
    void set_shape(const Extent& shape);
    // Continues some other lane, or this one once it may; returns when the calling fiber is resumed.
    void block(Simdgroup& group, unsigned lane);
    void block_rarely(Simdgroup& group, unsigned lane);
    void leave_simdgroup(Context* suspended);
    static void complete_exchange(Simdgroup& group);
    unsigned pick(std::uint32_t lanes);
    void switch_to_lane(Context* suspended, Simdgroup& group, unsigned lane);
    void switch_to_host(Context* suspended);
    void arrive(void* fake_stack);

    Simdgroup* group_;  // of the running fiber
    unsigned lane_ = 0;
    unsigned group_count_ = 0;
    OrderGenerator* order_ = nullptr;
    std::unique_ptr<std::array<Simdgroup, max_simdgroups>> groups_;
    const kfp_launch* launch_ = nullptr;
    ThreadEntry entry_ = nullptr;
    Context host_{};
    Extent shape_{};
    std::array<Extent, max_threads_per_threadgroup> coordinates_{};
    std::array<std::uint8_t, max_simdgroups> next_group_{};  // a ring of the threadgroup's simdgroups
    FiberStacks stacks_;
    StackBounds host_stack_;  // known under AddressSanitizer only
    bool came_from_host_ = false;
};

// What compiled images call; each finds the scheduler of the host thread that it runs on.
const kfp_runtime& runtime();

}  // namespace kfp::cpu
