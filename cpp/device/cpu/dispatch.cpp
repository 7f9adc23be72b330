#include "device/cpu/dispatch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <utility>

namespace kfp::cpu {
namespace {

// Enough shares for an even load, few enough that taking one costs nothing.
constexpr std::uint64_t shares_per_participant = 16;

// What others leave to a host thread of its own part: cache lines that move between cores cost more than such work.
constexpr std::chrono::microseconds patience{15};

// Shares that are left of a host thread's part: it takes them from the front, and others, who have finished theirs, from the
// back. So neighbouring threadgroups, which write to the same cache lines, meet on one core, and on the same one in each
// dispatch.
class Part {
public:
    static constexpr std::uint64_t none = UINT64_MAX;

    explicit Part(HostThread& thread) : state_(thread.part) {}

    void fill(std::uint64_t begin, std::uint64_t end) { state_.store(begin | end << 31U, std::memory_order_relaxed); }
    std::uint64_t take_first() {
        return take([](State s) { return std::pair{s.begin, State{s.begin + 1, s.end, true}}; });
    }
    std::uint64_t take_last() {
        return take([](State s) { return std::pair{s.end - 1, State{s.begin, s.end - 1, s.begun}}; });
    }
    // Whether something is left of it, and its own host thread at work on that.
    bool is_cared_for() const {
        const State now = unpacked(state_.load(std::memory_order_relaxed));
        return now.begun && now.begin != now.end;
    }
    bool is_left_alone() const {
        const State now = unpacked(state_.load(std::memory_order_relaxed));
        return !now.begun && now.begin != now.end;
    }

private:
    struct State {
        std::uint64_t begin;
        std::uint64_t end;
        bool begun;
    };
    static constexpr std::uint64_t mask = (std::uint64_t{1} << 31U) - 1;
    static State unpacked(std::uint64_t word) { return {word & mask, word >> 31U & mask, (word >> 62U) != 0}; }
    static std::uint64_t packed(State s) { return s.begin | s.end << 31U | std::uint64_t{s.begun} << 62U; }

    // `choose` gives the share and what is left without it.
    template <typename Choose>
    std::uint64_t take(Choose choose) {
        std::uint64_t word = state_.load(std::memory_order_relaxed);
        for (;;) {
            const State now = unpacked(word);
            if (now.begin == now.end) return none;
            const auto [share, rest] = choose(now);
            if (state_.compare_exchange_weak(word, packed(rest), std::memory_order_relaxed)) return share;
        }
    }

    std::atomic<std::uint64_t>& state_;
};

// A permutation of [0, count) that needs no memory: a step that shares no factor with the count, from anywhere.
class ThreadgroupOrder {
public:
    ThreadgroupOrder(std::uint64_t count, std::optional<std::uint64_t> seed) : count_(count) {
        if (!seed || count < 2) return;
        OrderGenerator generator(*seed);
        start_ = generator.next() % count;
        do step_ = generator.next() % count;
        while (std::gcd(step_, count) != 1);
    }
    std::uint64_t operator[](std::uint64_t position) const {
        __extension__ using wide = unsigned __int128;
        return static_cast<std::uint64_t>((wide{position} * step_ + start_) % count_);
    }

private:
    std::uint64_t count_;
    std::uint64_t start_ = 0;
    std::uint64_t step_ = 1;
};

class SharedDispatch {
public:
    SharedDispatch(const PreparedDispatch& dispatch, const DispatchMode& mode, HostThreads& threads, unsigned participants)
        : dispatch_(dispatch),
          mode_(mode),
          order_(dispatch.threadgroups, mode.order_seed),
          threads_(threads),
          participants_(participants),
          share_(std::max<std::uint64_t>(1, dispatch.threadgroups / (participants * shares_per_participant))) {
        const std::uint64_t shares = (dispatch.threadgroups + share_ - 1) / share_;
        for (unsigned i = 0; i < participants; ++i) {
            Part(threads[i]).fill(shares * i / participants, shares * (i + 1) / participants);
        }
    }

    static void work(void* context, HostThread& thread) { static_cast<SharedDispatch*>(context)->take_shares(thread); }

private:
    void take_shares(HostThread& thread) {
        bool helps = false;
        std::uint64_t share = next_share(thread.index, helps);
        if (share == Part::none) return;
        make_ready(thread);
        do {
            const std::uint64_t begin = share * share_;
            const std::uint64_t end = std::min(begin + share_, dispatch_.threadgroups);
            if (mode_.order_seed) {
                run_checked(thread, begin, end);
            } else if (dispatch_.uses_fibers) {
                run_synchronising(thread, begin, end);
            } else {
                Range range{this, &thread, begin, end};
                thread.plain_stack.call(&run_plain, &range);
            }
            share = next_share(thread.index, helps);
        } while (share != Part::none);
    }

    std::uint64_t next_share(unsigned own, bool& helps) const {
        std::uint64_t share = Part(threads_[own]).take_first();
        if (share != Part::none || participants_ == 1) return share;
        if (!std::exchange(helps, true)) spin_until(patience, [&] { return !others_at_work(own); });
        for (unsigned i = 1; share == Part::none && i < participants_; ++i) {
            share = Part(threads_[(own + i) % participants_]).take_last();
        }
        return share;
    }

    // On all that is left: nobody else has yet to come.
    bool others_at_work(unsigned own) const {
        bool any = false;
        for (unsigned i = 1; i < participants_; ++i) {
            const Part part(threads_[(own + i) % participants_]);
            if (part.is_left_alone()) return false;
            any = any || part.is_cared_for();
        }
        return any;
    }

    void make_ready(HostThread& thread) const {
        kfp_launch& launch = thread.launch;
        launch = dispatch_.launch;
        auto* const memory = reinterpret_cast<char*>(thread.threadgroup_memory.base(mode_.layout, dispatch_.threadgroup_bytes));
        launch.threadgroup_memory = memory;
        for (const auto& argument : dispatch_.threadgroup_arguments) {
            launch.threadgroup_arguments[argument.index] = memory + argument.offset;
        }
        thread.uses_fibers = dispatch_.uses_fibers;
    }

    void move_to(kfp_launch& launch, std::uint64_t threadgroup) const {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::uint64_t count = launch.threadgroups_per_grid[axis];
            const auto position = static_cast<std::uint32_t>(axis == 2 ? threadgroup : threadgroup % count);
            threadgroup /= count;
            const std::uint32_t length = launch.dispatch_threads_per_threadgroup[axis];
            launch.threadgroup_position_in_grid[axis] = position;
            launch.threads_per_threadgroup[axis] = std::min(length, launch.threads_per_grid[axis] - position * length);
        }
    }

    void run_synchronising(HostThread& thread, std::uint64_t begin, std::uint64_t end) const {
        for (std::uint64_t i = begin; i < end; ++i) {
            move_to(thread.launch, i);
            thread.fibers.run(thread.launch, dispatch_.thread_entry, nullptr);
        }
    }

    struct Range {
        const SharedDispatch* self;
        HostThread* thread;
        std::uint64_t begin;
        std::uint64_t end;
    };
    static void run_plain(void* argument) {
        const Range& range = *static_cast<const Range*>(argument);
        kfp_launch& launch = range.thread->launch;
        for (std::uint64_t i = range.begin; i < range.end; ++i) {
            range.self->move_to(launch, i);
            range.self->dispatch_.group_entry(&launch);
        }
    }

    void run_checked(HostThread& thread, std::uint64_t begin, std::uint64_t end) const {
        for (std::uint64_t i = begin; i < end; ++i) {
            const std::uint64_t threadgroup = order_[i];
            OrderGenerator order(*mode_.order_seed ^ (threadgroup * 0x9E3779B97F4A7C15U));
            move_to(thread.launch, threadgroup);
            const std::uint16_t word = poison(thread, order);
            if (dispatch_.uses_fibers) {
                thread.fibers.run(thread.launch, dispatch_.thread_entry, &order);
            } else {
                PermutedGroup group{dispatch_.thread_entry, &thread.launch, &order};
                thread.plain_stack.call(&run_permuted, &group);
            }
            if (thread.overrun != nullptr) continue;
            const auto* const memory = reinterpret_cast<const std::byte*>(thread.launch.threadgroup_memory);
            thread.overrun = overrun_variable(dispatch_.threadgroup_variables, memory, word);
        }
    }

    // Whatever type is read from it: 16-, 32- and 64-bit floats are NaNs, and the integers differ from run to run.
    std::uint16_t poison(const HostThread& thread, OrderGenerator& order) const {
        const auto word = static_cast<std::uint16_t>(0x7F81U | (order.next() & 0x807EU));
        char* const memory = thread.launch.threadgroup_memory;
        for (std::size_t i = 0; i + sizeof word <= dispatch_.threadgroup_bytes; i += sizeof word) {
            std::memcpy(memory + i, &word, sizeof word);
        }
        return word;
    }

    struct PermutedGroup {
        ThreadEntry entry;
        const kfp_launch* launch;
        OrderGenerator* order;
    };
    static void run_permuted(void* argument) {
        const PermutedGroup& group = *static_cast<const PermutedGroup*>(argument);
        const auto& shape = group.launch->threads_per_threadgroup;
        const std::uint32_t threads = shape[0] * shape[1] * shape[2];
        const ThreadgroupOrder order(threads, group.order->next());
        for (std::uint32_t i = 0; i < threads; ++i) {
            const auto thread = static_cast<std::uint32_t>(order[i]);
            group.entry(group.launch, thread % shape[0], thread / shape[0] % shape[1], thread / shape[0] / shape[1]);
        }
    }

    const PreparedDispatch& dispatch_;
    const DispatchMode& mode_;
    ThreadgroupOrder order_;
    HostThreads& threads_;
    unsigned participants_;
    std::uint64_t share_;
};

}  // namespace

unsigned PreparedDispatch::threads_per_threadgroup() const {
    const auto& shape = launch.dispatch_threads_per_threadgroup;
    return shape[0] * shape[1] * shape[2];
}

void run_dispatch(const PreparedDispatch& dispatch, const DispatchMode& mode, HostThreads& threads, unsigned participants) {
    participants = static_cast<unsigned>(std::min<std::uint64_t>(participants, dispatch.threadgroups));
    SharedDispatch shared(dispatch, mode, threads, participants);
    threads.run(&SharedDispatch::work, &shared, participants);
}

}  // namespace kfp::cpu
