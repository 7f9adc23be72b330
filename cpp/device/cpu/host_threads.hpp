// The host threads of the software device, and what each needs to run threadgroups.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "device/cpu/context_switch.hpp"
#include "device/cpu/fibers.hpp"
#include "device/cpu/memory.hpp"
#include "device/cpu/sanitizer.hpp"
#include "device/cpu/threadgroup_margins.hpp"

namespace kfp::cpu {

constexpr std::size_t max_threadgroup_memory = 32768;

inline void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    asm volatile("yield");
#endif
}

// Whether `done` came true within `time`, without sleeping.
template <typename Condition>
bool spin_until(std::chrono::microseconds time, Condition done) {
    constexpr unsigned pauses_between_clock_reads = 64;
    const auto deadline = std::chrono::steady_clock::now() + time;
    do {
        for (unsigned i = 0; i < pauses_between_clock_reads; ++i) {
            if (done()) return true;
            pause();
        }
    } while (std::chrono::steady_clock::now() < deadline);
    return false;
}

// One threadgroup's memory, for whichever threadgroup its host thread runs.
class ThreadgroupMemory {
public:
    void reserve(std::size_t bytes);  // allocates; throws std::bad_alloc
    // Where `bytes` begin in the given layout; a multiple of 64.
    std::byte* base(BufferLayout layout, std::size_t bytes) const;
    // For signal handlers.
    bool zone_contains(const void* address) const { return mapping_.contains(address); }

private:
    std::size_t capacity_ = 0;
    Mapping mapping_;
};

// A stack for kernels that never synchronise, with bounds that a fault can be compared with.
class PlainStack {
public:
    using Function = void (*)(void* argument);

    PlainStack();
    PlainStack(const PlainStack&) = delete;
    PlainStack& operator=(const PlainStack&) = delete;

    void call(Function function, void* argument);
    bool is_guard(const void* address) const;

private:
    static void loop(void* self);

    Mapping mapping_;
    Context inside_{};
    Context outside_{};
    StackBounds outside_bounds_;
    Function function_ = nullptr;
    void* argument_ = nullptr;
};

struct HostThread {
    unsigned index = 0;
    // Of the work that all threads share, what this one begins with: for whoever shares it out.
    alignas(64) std::atomic<std::uint64_t> part{0};
    alignas(64) FiberScheduler fibers;
    PlainStack plain_stack;
    ThreadgroupMemory threadgroup_memory;
    kfp_launch launch{};  // of the threadgroup that runs here, or ran last
    bool uses_fibers = false;
    const ThreadgroupAllocation* overrun = nullptr;  // the first variable behind which a checked threadgroup wrote

    // The one whose work the calling thread does, or nullptr. For signal handlers too.
    static HostThread* current();
};

class HostThreads {
public:
    // Work that any number of threads can share; each call returns when nothing is left to begin.
    using Work = void (*)(void* context, HostThread& thread);

    // The calling thread is one of the `count`; the others are started here and wait.
    explicit HostThreads(unsigned count);
    ~HostThreads();
    HostThreads(const HostThreads&) = delete;
    HostThreads& operator=(const HostThreads&) = delete;

    unsigned count() const { return static_cast<unsigned>(threads_.size()); }
    HostThread& operator[](unsigned index) { return *threads_[index]; }
    // Stacks for threadgroups of up to `threads_per_threadgroup`. Returns how many participants can have them: fewer than
    // asked for where so many cores meet such large threadgroups that the system would run out of mappings.
    unsigned reserve_fibers(unsigned threads_per_threadgroup, unsigned participants);
    void reserve_threadgroup_memory(std::size_t bytes);
    // Has sleeping threads look for work, ahead of the time when it matters.
    void wake();
    // Calls `work` here and on the other participants that are awake in time; returns when all of them have returned.
    void run(Work work, void* context, unsigned participants);

private:
    void serve(HostThread& self);
    void sleep_until_changed(std::uint32_t generation);
    void wait_for_helpers();

    std::vector<std::unique_ptr<HostThread>> threads_;
    std::vector<std::thread> started_;

    // Odd while there is work to join; a helper counts itself in before it looks again.
    alignas(64) std::atomic<std::uint32_t> generation_{0};
    std::atomic<bool> stopping_{false};
    Work work_ = nullptr;
    void* context_ = nullptr;
    unsigned participants_ = 0;
    alignas(64) std::atomic<std::uint32_t> helping_{0};
    std::atomic<std::uint32_t> caller_sleeps_{0};
    alignas(64) std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace kfp::cpu
