// Temporaries are objects in thread memory, but C++ for OpenCL, when it resolves a call, binds neither a `thread`
// reference nor the object of a `thread` method to one. This finds the functions that a temporary should reach, so that
// the rewriter can give each an overload that takes temporaries and forwards to it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "msl/structure.hpp"

namespace kfp::msl {

struct ForwardedParameter {
    Range tokens;
    Index name = none;
    Range type;                    // of `thread const T& x`: the T; empty for any other parameter
    bool takes_temporary() const { return !type.empty(); }
};

struct Forwarding {
    const Function* function = nullptr;
    std::vector<ForwardedParameter> parameters;
    std::vector<std::string> template_arguments;  // names, to call it with
    Range callee;                                 // its name: one identifier, or `operator` and what follows
    Range qualifiers;                             // const, volatile, address spaces after the parameters
    Range rest;                                   // what stands between those and the body
    std::string record;                           // of a method
    bool space_implied = false;                   // a method that names no address space
    // A const method of thread objects, which a temporary is to reach; and one that objects elsewhere would reach then too.
    bool in_thread = false;
    bool keeps_others_out = false;

    unsigned temporaries() const;                 // how many parameters may take one
};

struct Temporaries {
    std::set<Index> dropped;  // `thread` and `&` of parameters that can as well be passed by value
    std::map<Index, Forwarding> after;  // by the last token of the declaration or definition
};

Temporaries find_temporaries(const Program& program);

}  // namespace kfp::msl
