// Braced lists of fewer scalars than the vector has components: the rest becomes zero, where a constructor of the
// library's vector class would repeat a single scalar and refuse more.
#pragma once

#include <map>
#include <string>

#include "msl/structure.hpp"

namespace kfp::msl {

struct VectorList {
    std::string type;
    Index brace = none;
    bool initializes = false;  // a variable, without '='; else a value
};

// By the first token that the list's rewritten form stands for: the type of `float4{1}`, else the brace.
std::map<Index, VectorList> find_short_vector_lists(const Program& program);

}  // namespace kfp::msl
