// Device memory converts to `constant` memory without a word in C++ for OpenCL, as `constant` is made of the address
// space that holds both. This finds the functions with `constant` parameters, so that the rewriter can give each a
// deleted overload that device memory prefers.
#pragma once

#include <map>
#include <vector>

#include "msl/structure.hpp"

namespace kfp::msl {

struct ConstantGuard {
    const Function* function = nullptr;
    std::vector<Index> words;  // the word `constant` of every parameter that is to be guarded
    Range tail;                // what stands between the parameters and the body
};

// By the last token of the definition.
std::map<Index, ConstantGuard> find_constant_guards(const Program& program);

}  // namespace kfp::msl
