#pragma once

#include "msl/structure.hpp"

namespace kfp::msl {

// A pointer or reference has to say which address space it points into, unless its type is deduced or depends on a
// template argument.
void check_pointers(const Program& program, Diagnostics& diagnostics);

}  // namespace kfp::msl
