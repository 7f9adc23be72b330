// What lies beside a kernel's threadgroup variables and is nobody's: a write there tells of an array that is too short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "msl/compile.hpp"

namespace kfp::cpu {

using msl::ThreadgroupAllocation;

// For memory that held `word` throughout when its threadgroup began: the variable whose room has changed behind it, or
// nullptr.
const ThreadgroupAllocation* overrun_variable(std::span<const ThreadgroupAllocation> variables, const std::byte* memory,
                                              std::uint16_t word);

// For a run as a whole: a few bytes on both sides of each variable. What several kernels have in one place counts as long
// as the longest.
class ThreadgroupMargins {
public:
    struct Place {
        ThreadgroupAllocation longest;
        std::vector<std::string> kernels;
    };

    void add(const std::string& kernel, std::span<const ThreadgroupAllocation> variables);
    bool empty() const { return places_.empty(); }
    void fill(std::byte* memory) const;
    // Since they were filled; nullptr if none.
    const Place* damaged(const std::byte* memory) const;

private:
    std::vector<Place> places_;
};

}  // namespace kfp::cpu
