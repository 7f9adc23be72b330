#pragma once

#include "msl/kernels.hpp"

namespace kfp::msl {

// Return types, parameters and their attributes.
void check_signatures(const Program& program, const Kernels& kernels, Diagnostics& diagnostics);

}  // namespace kfp::msl
