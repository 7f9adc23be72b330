#include "device/cpu/fibers.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace kfp::cpu {
namespace {

// Set while this host thread runs fibers, which never move to another one.
[[gnu::tls_model("initial-exec")]] constinit thread_local FiberScheduler* running_scheduler = nullptr;

constexpr std::uint32_t bit(unsigned lane) { return std::uint32_t{1} << lane; }

void copy_value(unsigned char* slot, const void* value, unsigned bytes) {
    // Constant sizes, so that each case is one move.
    switch (bytes) {
        case 0: break;
        case 1: std::memcpy(slot, value, 1); break;
        case 2: std::memcpy(slot, value, 2); break;
        case 4: std::memcpy(slot, value, 4); break;
        case 8: std::memcpy(slot, value, 8); break;
        case 16: std::memcpy(slot, value, 16); break;
        default: std::memcpy(slot, value, std::min<unsigned>(bytes, KFP_SLOT_BYTES)); break;
    }
}

}  // namespace

std::uint64_t OrderGenerator::next() {  // splitmix64
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
}

FiberStacks::FiberStacks() : mapping_(stride * max_threads_per_threadgroup) {}

void FiberStacks::reserve(unsigned count) {
    for (; count_ < count; ++count_) mapping_.make_writable(bottom(count_), stack_bytes);
}

std::byte* FiberStacks::top(unsigned index) const {
    // Tops at equal offsets in their pages would compete for the same cache sets.
    constexpr unsigned lines_per_page = 64;
    constexpr std::size_t line = 64;
    return bottom(index) + stack_bytes - index * 7 % lines_per_page * line;
}

bool FiberStacks::is_guard(const void* address) const {
    if (!mapping_.contains(address)) return false;
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) - mapping_.begin()) % stride < guard_bytes;
}

FiberScheduler::FiberScheduler() : groups_(std::make_unique<std::array<Simdgroup, max_simdgroups>>()) {
    group_ = groups_->data();
}

void FiberScheduler::reserve(unsigned threads) {
    const unsigned made = stacks_.count();
    stacks_.reserve(threads);
    for (unsigned i = made; i < threads; ++i) {
        (*groups_)[i / simd_width].contexts[i % simd_width] = make_context(stacks_.top(i), &fiber_main, this);
    }
}

void FiberScheduler::set_shape(const Extent& shape) {
    if (shape == shape_) return;
    shape_ = shape;
    unsigned index = 0;
    for (std::uint32_t z = 0; z < shape[2]; ++z) {
        for (std::uint32_t y = 0; y < shape[1]; ++y) {
            for (std::uint32_t x = 0; x < shape[0]; ++x) coordinates_[index++] = {x, y, z};
        }
    }
}

void FiberScheduler::run(const kfp_launch& launch, ThreadEntry entry, OrderGenerator* order) {
    const Extent shape{launch.threads_per_threadgroup[0], launch.threads_per_threadgroup[1],
                       launch.threads_per_threadgroup[2]};
    set_shape(shape);
    const unsigned threads = shape[0] * shape[1] * shape[2];
    group_count_ = (threads + simd_width - 1) / simd_width;
    for (unsigned i = 0; i < group_count_; ++i) {
        (*groups_)[i].runnable = UINT32_MAX;
        next_group_[i] = static_cast<std::uint8_t>((i + 1) % group_count_);
    }
    if (threads % simd_width != 0) (*groups_)[group_count_ - 1].runnable = bit(threads % simd_width) - 1;

    unsigned first = 0;
    if (order != nullptr) {
        std::array<std::uint8_t, max_simdgroups> ring{};
        std::iota(ring.begin(), ring.end(), std::uint8_t{0});
        for (unsigned i = group_count_; i > 1; --i) std::swap(ring[i - 1], ring[order->below(i)]);
        for (unsigned i = 0; i < group_count_; ++i) next_group_[ring[i]] = ring[(i + 1) % group_count_];
        first = ring[0];
    }
    launch_ = &launch;
    entry_ = entry;
    order_ = order;
    running_scheduler = this;
    came_from_host_ = true;
    Simdgroup& group = (*groups_)[first];
    switch_to_lane(&host_, group, pick(group.runnable));
    running_scheduler = nullptr;
}

// A fiber outlives its thread: it waits here for the next threadgroup that has a thread of its index.
void FiberScheduler::fiber_main(void* scheduler) {
    auto& self = *static_cast<FiberScheduler*>(scheduler);
    self.arrive(nullptr);
    for (;;) {
        const Extent& at = self.coordinates_[self.thread_index()];
        self.entry_(self.launch_, at[0], at[1], at[2]);
        self.group_->runnable &= ~bit(self.lane_);
        self.block(*self.group_, self.lane_);
    }
}

inline unsigned FiberScheduler::pick(std::uint32_t lanes) {
    if (order_ != nullptr) [[unlikely]] {
        const auto count = static_cast<std::uint32_t>(std::popcount(lanes));
        for (std::uint32_t skip = order_->below(count); skip > 0; --skip) lanes &= lanes - 1;
    }
    return static_cast<unsigned>(std::countr_zero(lanes));
}

inline void FiberScheduler::arrive([[maybe_unused]] void* fake_stack) {
#if defined(KFP_ADDRESS_SANITIZER)
    const StackBounds left = has_switched(fake_stack);
    if (std::exchange(came_from_host_, false)) host_stack_ = left;
#endif
}

inline void FiberScheduler::switch_to_lane(Context* suspended, Simdgroup& group, unsigned lane) {
    group_ = &group;
    lane_ = lane;
    [[maybe_unused]] void* const fake_stack = about_to_switch_to(stacks_.bounds(thread_index()));
    kfp_switch_context(suspended, group.contexts[lane]);
    arrive(fake_stack);
}

void FiberScheduler::switch_to_host(Context* suspended) {
    void* const fake_stack = about_to_switch_to(host_stack_);
    kfp_switch_context(suspended, host_);
    arrive(fake_stack);
}

// The common case is a tail call away from the kernel: it saves no registers but those that the switch itself does.
inline void FiberScheduler::block(Simdgroup& group, unsigned lane) {
    const std::uint32_t runnable = group.runnable;
    if (runnable == 0 || order_ != nullptr) [[unlikely]] return block_rarely(group, lane);
    switch_to_lane(&group.contexts[lane], group, static_cast<unsigned>(std::countr_zero(runnable)));
}

[[gnu::noinline]] void FiberScheduler::block_rarely(Simdgroup& group, unsigned lane) {
    if (group.runnable == 0) {
        if (group.at_exchange != 0) complete_exchange(group);
        if (group.runnable == 0) return leave_simdgroup(&group.contexts[lane]);
        if ((group.runnable & bit(lane)) != 0) return;  // completed its own exchange
    }
    switch_to_lane(&group.contexts[lane], group, pick(group.runnable));
}

// Every lane of the running simdgroup has returned or waits at a threadgroup barrier. The simdgroups take turns, so that
// by the time of a simdgroup's next turn every other one has got as far as this one: its barrier is complete.
void FiberScheduler::leave_simdgroup(Context* suspended) {
    const unsigned left = group_index();
    unsigned next = left;
    do {
        next = next_group_[next];
        Simdgroup& group = (*groups_)[next];
        if (group.runnable == 0) group.runnable = std::exchange(group.at_barrier, 0);
        if (group.runnable != 0) {
            const unsigned lane = pick(group.runnable);
            if (suspended == &group.contexts[lane]) return;
            return switch_to_lane(suspended, group, lane);
        }
    } while (next != left);
    switch_to_host(suspended);
}

// Lanes at different call sites have diverged. They meet behind the statement that parted them, so whoever is within it
// goes before who waits for it to end; among lanes on different ways through it, the one that lags behind in the code.
std::uint64_t site_of(const void* return_address, unsigned width) {
    const auto address = reinterpret_cast<std::uintptr_t>(return_address) & ((std::uint64_t{1} << 48) - 1);
    if (width < KFP_MEETING) return address;
    const std::uint64_t outwards = 0x7fff - std::min<std::uint64_t>(width - KFP_MEETING, 0x7fff);
    return (std::uint64_t{1} << 63) | (outwards << 48) | address;
}

void FiberScheduler::complete_exchange(Simdgroup& group) {
    std::uint64_t site = UINT64_MAX;
    for (std::uint32_t lanes = group.at_exchange; lanes != 0; lanes &= lanes - 1) {
        site = std::min(site, group.sites[static_cast<unsigned>(std::countr_zero(lanes))]);
    }
    std::uint32_t active = 0;
    for (std::uint32_t lanes = group.at_exchange; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
        if (group.sites[lane] == site) active |= bit(lane);
    }
    if ((group.at_quad_exchange & active) == 0) {
        std::memcpy(group.frame.slots, group.deposits.data(), sizeof group.frame.slots);
        group.frame.active = active;
    } else {
        for (unsigned quad = 0; quad < group.quad_frames.size(); ++quad) {
            kfp_simd_frame& frame = group.quad_frames[quad];
            const unsigned first = quad * quad_width;
            std::memcpy(frame.slots[first], group.deposits[first].data(), std::size_t{quad_width} * KFP_SLOT_BYTES);
            frame.active = active & ((bit(quad_width) - 1) << first);
        }
    }
    group.at_exchange &= ~active;
    group.at_quad_exchange &= ~active;
    group.runnable = active;
}

inline void FiberScheduler::threadgroup_barrier() {
    const unsigned lane = lane_;
    Simdgroup& group = *group_;
    group.runnable &= ~bit(lane);
    group.at_barrier |= bit(lane);
    block(group, lane);
}

inline const kfp_simd_frame* FiberScheduler::simd_exchange(const void* value, unsigned bytes, unsigned width, unsigned* lane_result,
                                                    const void* return_address) {
    const unsigned lane = lane_;
    Simdgroup& group = *group_;
    *lane_result = lane;
    copy_value(group.deposits[lane].data(), value, bytes);
    group.sites[lane] = site_of(return_address, width);
    group.runnable &= ~bit(lane);
    group.at_exchange |= bit(lane);
    if (width == quad_width) group.at_quad_exchange |= bit(lane);
    block(group, lane);
    return width == quad_width ? &group.quad_frames[lane / quad_width] : &group.frame;
}

namespace {

void barrier_of_image() { running_scheduler->threadgroup_barrier(); }

// The forwarder in the image is a tail call, so that the return address is the place in the kernel.
const kfp_simd_frame* simd_exchange_of_image(const void* value, unsigned bytes, unsigned width, unsigned* lane) {
    return running_scheduler->simd_exchange(value, bytes, width, lane, __builtin_return_address(0));
}

constexpr kfp_runtime functions_for_images{
    .abi_version = KFP_ABI_VERSION,
    .threadgroup_barrier = &barrier_of_image,
    .simd_exchange = &simd_exchange_of_image,
    .counters = nullptr,
};

}  // namespace

const kfp_runtime& runtime() { return functions_for_images; }

}  // namespace kfp::cpu
