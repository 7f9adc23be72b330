// The guard of a kernel whose grid is rounded up: `if (gid.x >= NX || gid.y >= NY) return;` before anything else.
#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

#include "msl/kernels.hpp"

namespace kfp::msl {

// Where a loop over the threads of a threadgroup ends at the bound instead, no thread needs to ask, and a thread's stores
// depend on no condition.
struct GridGuard {
    // Expressions over the kernel's parameters, by axis: a thread whose position is not below all of them does nothing.
    std::array<std::vector<Range>, 3> bounds;
    std::vector<Index> open;  // the '(' of the conditions that ask

    bool empty() const { return open.empty(); }
};

// `constants`: the parameters that hold the same value for every thread.
GridGuard find_grid_guard(const Program& program, const Kernel& kernel, const std::set<std::string, std::less<>>& constants);

}  // namespace kfp::msl
