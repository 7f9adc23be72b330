// From MSL tokens to the C++ for OpenCL that clang compiles: one token a line, so that every place in a diagnostic leads
// back to one token of the user's, and thereby to the exact line and column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "msl/kernels.hpp"

namespace kfp::msl {

struct RewrittenLine {
    Index token = none;       // the user's token that this line stands for; `none` for text of ours
    std::uint32_t added = 0;  // characters of ours before the user's
};

struct Rewritten {
    std::string text;
    std::vector<RewrittenLine> lines;  // lines[0] is line 1
};

// Without kernels (or where brackets do not pair) no entry points are appended.
Rewritten rewrite(const Program& program, const Kernels& kernels, const CompileOptions& options);

}  // namespace kfp::msl
