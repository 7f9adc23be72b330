// A plan bound to an image: buffers placed, launch descriptors made, limits checked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/cpu/dispatch.hpp"
#include "device/cpu/fault.hpp"
#include "device/cpu/host_threads.hpp"
#include "device/cpu/image.hpp"
#include "device/cpu/memory.hpp"
#include "device/device.hpp"

namespace kfp::cpu {

// A kernel of a compiled image: what the front end found out about it, and where it begins.
struct Kernel {
    KernelInfo info;
    ThreadEntry thread_entry = nullptr;  // where the kernel synchronises, and in an image for the checked mode
    GroupEntry group_entry = nullptr;    // in all other cases
    bool synchronises = true;
    std::uint32_t threadgroup_extent = 0;  // bytes that its threadgroup variables span
    std::vector<ThreadgroupAllocation> threadgroup_variables = {};
};

// The runtime as one image sees it: with counters of its own, if it counts.
class Counting {
public:
    Counting(const kfp_runtime& common, std::uint32_t count) : runtime(common), counters_(count) {
        runtime.counters = counters_.data();
    }
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

    std::vector<std::uint64_t> take() {
        std::vector<std::uint64_t> counts = counters_;
        std::fill(counters_.begin(), counters_.end(), 0);
        return counts;
    }

    kfp_runtime runtime;

private:
    std::vector<std::uint64_t> counters_;
};

struct LoadedImage {
    Image image;
    std::vector<Kernel> kernels;
    std::unique_ptr<Counting> counting = nullptr;  // of an instrumented program alone
};

class CpuExecution final : public Execution {
public:
    CpuExecution(std::shared_ptr<const LoadedImage> image, std::shared_ptr<HostThreads> threads, const Plan& plan,
                 std::span<const std::byte> contents, const RunOptions& options, Progress* progress);

    void reset() override;
    RunTime run(std::uint32_t repeats) override;
    std::span<const std::byte> contents(std::uint32_t buffer) const override;

private:
    // Part of a buffer that one host thread restores at a time.
    struct ResetPiece {
        std::byte* target;
        const std::byte* source;  // nullptr: poison
        std::size_t bytes;
    };
    struct ResetWork;

    static std::shared_ptr<const BufferStore> place_buffers(const Plan& plan, BufferLayout layout,
                                                            const CpuExecution* shared);
    void list_reset_pieces(std::span<const std::byte> contents);
    void evict();
    void require_intact_margins() const;
    void require_intact_threadgroup_margins() const;
    std::byte* threadgroup_memory(unsigned thread) const;

    std::shared_ptr<const LoadedImage> image_;
    std::shared_ptr<HostThreads> threads_;
    Plan plan_;
    DispatchMode mode_;
    std::shared_ptr<const BufferStore> buffers_;
    std::vector<PreparedDispatch> dispatches_;
    ThreadgroupMargins threadgroup_margins_;  // empty in a checked run
    std::vector<ResetPiece> reset_pieces_;
    unsigned participants_;
    bool cold_;
    Progress* progress_;
    RunUnderWay under_way_;
};

}  // namespace kfp::cpu
