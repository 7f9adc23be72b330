// One dispatch, ready to run: entry points, launch descriptor, geometry.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/cpu/fibers.hpp"
#include "device/cpu/host_threads.hpp"
#include "device/cpu/threadgroup_margins.hpp"

namespace kfp::cpu {

struct PreparedDispatch {
    struct ThreadgroupArgument {
        std::uint32_t index;   // [[threadgroup(n)]]
        std::size_t offset;    // in the threadgroup's memory, behind the kernel's own variables
    };

    ThreadEntry thread_entry = nullptr;
    GroupEntry group_entry = nullptr;  // nullptr where the kernel synchronises, and in an image for the checked mode
    bool uses_fibers = false;
    kfp_launch launch{};  // all but what differs between threadgroups and between host threads
    std::vector<ThreadgroupArgument> threadgroup_arguments;
    std::span<const ThreadgroupAllocation> threadgroup_variables;  // the image's
    std::size_t threadgroup_bytes = 0;  // spanned by variables and arguments together
    std::uint64_t threadgroups = 1;

    unsigned threads_per_threadgroup() const;
};

// How the threadgroups of a dispatch are run.
struct DispatchMode {
    BufferLayout layout = BufferLayout::spacious;
    // Checked: threadgroups and threads in an order drawn from the seed, threadgroup memory poisoned before each and
    // looked at after it.
    std::optional<std::uint64_t> order_seed;
};

// Returns when every threadgroup has run.
void run_dispatch(const PreparedDispatch& dispatch, const DispatchMode& mode, HostThreads& threads, unsigned participants);

}  // namespace kfp::cpu
