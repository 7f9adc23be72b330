// What Apple's compiler refuses and clang would not, and what no program may say to our compiler.
#pragma once

#include "msl/kernels.hpp"

namespace kfp::msl {

// Assembly, attributes and builtins that reach the linker or the host, names of ours.
void check_hygiene(const Program& program, Diagnostics& diagnostics);

void check_rules(const Program& program, const Kernels& kernels, Diagnostics& diagnostics);

}  // namespace kfp::msl
