// From clang's diagnostics about the rewritten text to diagnostics about the user's own.
#pragma once

#include <string_view>
#include <vector>

#include "msl/rewrite.hpp"

namespace kfp::msl {

struct ThreadgroupUse {
    Index token = none;          // the declared variable
    Index instantiation = none;  // of a kernel template: the token that asked for it
    std::uint32_t number = 0;
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
};

struct CompilerOutput {
    std::vector<Diagnostic> diagnostics;
    std::vector<ThreadgroupUse> threadgroup_uses;
    bool has_errors = false;
};

// `file` is the name under which the compiler saw the rewritten text.
CompilerOutput read_compiler_output(std::string_view text, std::string_view file, const Program& program, const Rewritten& rewritten);

// A message without the names that are ours: address spaces and vector types spelled as in Metal.
std::string in_metal_terms(std::string message);

}  // namespace kfp::msl
