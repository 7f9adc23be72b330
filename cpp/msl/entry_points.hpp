// The functions of an image that the runtime calls (see kfp_abi.h), as text behind the user's program.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "msl/kernels.hpp"

namespace kfp::msl {

// The parameters whose values are read before the threads run: small ones by reference to constant memory. None in
// checked mode, which watches every access.
std::set<std::string, std::less<>> held_parameters(const Program& program, const Kernel& kernel, const CompileOptions& options);

// The lines of kernel number `number`'s entry point.
std::vector<std::string> entry_point(const Program& program, const Kernel& kernel, std::size_t number, const CompileOptions& options);

}  // namespace kfp::msl
