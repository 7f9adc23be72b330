// What code is generated for: this machine.
#pragma once

#include <string>
#include <vector>

namespace kfp::msl {

// As arguments of clang -cc1: triple, processor and features.
std::vector<std::string> host_target_arguments();

}  // namespace kfp::msl
