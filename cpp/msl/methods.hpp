// Methods and the address spaces of their objects, as C++ for OpenCL must have them.
#pragma once

#include <map>
#include <set>

#include "msl/structure.hpp"

namespace kfp::msl {

struct Methods {
    std::set<Index> qualified_before;  // a method that names no address space: here it gets that of thread objects
    std::set<Index> spaces;            // `device` and `constant` where they qualify a method
    std::map<Index, Index> left_out;   // from the first token of what is left out to past its last
    // What a method of device objects returns as a device reference or pointer: the first and last tokens.
    std::set<Index> into_device_before;
    std::set<Index> into_device_after;
};

Methods find_methods(const Program& program);

// The name of a function, or the word `operator`.
Index callee_begin(const Program& program, const Function& function);
// Where `template <…>` before a declaration begins, or the declaration itself.
Index template_begin(const Program& program, Index begin);

}  // namespace kfp::msl
