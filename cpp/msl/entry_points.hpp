// The functions of an image that the runtime calls (see kfp_abi.h), as text behind the user's program.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "msl/grid_guard.hpp"
#include "msl/kernels.hpp"

namespace kfp::msl {

class EntryPoint {
public:
    // Of kernel `number`; all three must outlive it.
    EntryPoint(const Program& program, const Kernel& kernel, std::size_t number, const CompileOptions& options);

    const GridGuard& guard() const { return guard_; }

    std::vector<std::string> lines() const;

private:
    std::vector<std::string> for_a_thread() const;
    std::vector<std::string> for_a_threadgroup() const;
    std::string launch() const;
    bool is_held(std::size_t p) const;
    std::string held_arguments() const;
    std::string argument(std::size_t p) const;
    std::string call(const char* clamped) const;
    std::string in_entry_point(Range bound) const;
    std::string is_clamped() const;
    std::string extent(std::size_t axis) const;

    const Program& program_;
    const Kernel& kernel_;
    const std::string number_;
    const CompileOptions& options_;
    // The parameters whose values are read before the threads run: small ones by reference to constant memory. None in
    // checked mode, which watches every access.
    const std::set<std::string, std::less<>> held_;
    const GridGuard guard_;
};

}  // namespace kfp::msl
