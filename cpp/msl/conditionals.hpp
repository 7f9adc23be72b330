// Operands of ?: of which the value is to be taken: C++ for OpenCL finds no common type for an lvalue and a value, or for
// two values one of which it holds to be in thread memory.
#pragma once

#include <map>

#include "msl/structure.hpp"

namespace kfp::msl {

struct Conditionals {
    std::map<Index, int> opened_before;  // how many operands begin at this token
    std::map<Index, int> closed_after;   // and how many end with it
};

Conditionals find_conditionals(const Program& program);

}  // namespace kfp::msl
