#include "device/cpu/host_threads.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <utility>

#include "device/cpu/fault.hpp"

namespace kfp::cpu {
namespace {

constexpr std::size_t threadgroup_guard = std::size_t{64} << 20;
constexpr std::size_t threadgroup_slack = std::size_t{64} << 10;
constexpr std::size_t plain_stack_bytes = std::size_t{8} << 20;
constexpr std::size_t plain_stack_guard = std::size_t{1} << 20;
constexpr std::chrono::microseconds spin_time{50};
// Each takes two of a process's mappings, of which Linux allows 65,530 by default.
constexpr unsigned most_stacks = 24'000;

[[gnu::tls_model("initial-exec")]] constinit thread_local HostThread* current_thread = nullptr;

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
void futex_wake_all(std::atomic<std::uint32_t>& word) {
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

class CurrentThread {
public:
    explicit CurrentThread(HostThread& thread) : before_(std::exchange(current_thread, &thread)) {}
    ~CurrentThread() { current_thread = before_; }
    CurrentThread(const CurrentThread&) = delete;
    CurrentThread& operator=(const CurrentThread&) = delete;

private:
    HostThread* before_;
};

}  // namespace

// [guard | slack, memory, slack | guard | memory | guard]: the first for normal runs, the second for guarded layouts.
void ThreadgroupMemory::reserve(std::size_t bytes) {
    if (bytes <= capacity_ && mapping_.begin() != nullptr) return;
    capacity_ = round_up(std::max(bytes, max_threadgroup_memory), page_size());
    mapping_ = Mapping(3 * threadgroup_guard + 2 * threadgroup_slack + 2 * capacity_);
    mapping_.make_writable(mapping_.begin() + threadgroup_guard, 2 * threadgroup_slack + capacity_);
    mapping_.make_writable(mapping_.end() - threadgroup_guard - capacity_, capacity_);
}

std::byte* ThreadgroupMemory::base(BufferLayout layout, std::size_t bytes) const {
    std::byte* const guarded_end = mapping_.end() - threadgroup_guard;
    switch (layout) {
        case BufferLayout::guarded_end: return guarded_end - round_up(bytes, 64);
        case BufferLayout::guarded_start: return guarded_end - capacity_;
        case BufferLayout::spacious: break;
    }
    return mapping_.begin() + threadgroup_guard + threadgroup_slack;
}

PlainStack::PlainStack() : mapping_(plain_stack_guard + plain_stack_bytes) {
    mapping_.make_writable(mapping_.begin() + plain_stack_guard, plain_stack_bytes);
    inside_ = make_context(mapping_.end(), &loop, this);
}

void PlainStack::call(Function function, void* argument) {
    function_ = function;
    argument_ = argument;
    void* const fake_stack = about_to_switch_to({mapping_.begin() + plain_stack_guard, plain_stack_bytes});
    kfp_switch_context(&outside_, inside_);
    has_switched(fake_stack);
}

void PlainStack::loop(void* argument) {
    auto& self = *static_cast<PlainStack*>(argument);
    void* fake_stack = nullptr;
    for (;;) {
        self.outside_bounds_ = has_switched(fake_stack);
        self.function_(self.argument_);
        fake_stack = about_to_switch_to(self.outside_bounds_);
        kfp_switch_context(&self.inside_, self.outside_);
    }
}

bool PlainStack::is_guard(const void* address) const {
    return address >= mapping_.begin() && address < mapping_.begin() + plain_stack_guard;
}

HostThread* HostThread::current() { return current_thread; }

HostThreads::HostThreads(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        threads_.push_back(std::make_unique<HostThread>());
        threads_.back()->index = i;
    }
    for (unsigned i = 1; i < count; ++i) started_.emplace_back([this, i] { serve(*threads_[i]); });
}

HostThreads::~HostThreads() {
    stopping_.store(true);
    generation_.fetch_add(2);
    futex_wake_all(generation_);
    for (std::thread& thread : started_) thread.join();
}

unsigned HostThreads::reserve_fibers(unsigned threads_per_threadgroup, unsigned participants) {
    participants = std::clamp(most_stacks / threads_per_threadgroup, 1U, participants);
    for (unsigned i = 0; i < participants; ++i) threads_[i]->fibers.reserve(threads_per_threadgroup);
    return participants;
}

void HostThreads::reserve_threadgroup_memory(std::size_t bytes) {
    for (const auto& thread : threads_) thread->threadgroup_memory.reserve(bytes);
}

void HostThreads::wake() {
    if (sleepers_.load() != 0) futex_wake_all(generation_);
}

void HostThreads::run(Work work, void* context, unsigned participants) {
    HostThread& self = *threads_[0];
    const CurrentThread current(self);
    if (participants <= 1) return work(context, self);

    work_ = work;
    context_ = context;
    participants_ = participants;
    generation_.fetch_add(1);  // opens
    if (sleepers_.load() != 0) futex_wake_all(generation_);
    work(context, self);
    generation_.fetch_add(1);  // closes: a helper that comes too late finds the number changed
    if (helping_.load() != 0) wait_for_helpers();
}

void HostThreads::wait_for_helpers() {
    if (spin_until(spin_time, [this] { return helping_.load() == 0; })) return;
    caller_sleeps_.store(1);
    while (const std::uint32_t left = helping_.load()) futex_wait(helping_, left);
    caller_sleeps_.store(0);
}

void HostThreads::sleep_until_changed(std::uint32_t generation) {
    sleepers_.fetch_add(1);
    futex_wait(generation_, generation);
    sleepers_.fetch_sub(1);
}

void HostThreads::serve(HostThread& self) {
    install_fault_stack();
    const CurrentThread current(self);
    std::uint32_t seen = 0;
    for (;;) {
        if (!spin_until(spin_time, [&] { return generation_.load() != seen; })) {
            sleep_until_changed(seen);
            continue;
        }
        if (stopping_.load()) return;
        seen = generation_.load();
        if (seen % 2 == 0) continue;
        helping_.fetch_add(1);
        if (generation_.load() == seen && self.index < participants_) work_(context_, self);
        if (helping_.fetch_sub(1) == 1 && caller_sleeps_.load() != 0) futex_wake_all(helping_);
    }
}

}  // namespace kfp::cpu
