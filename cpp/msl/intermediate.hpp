// The compiler's own text of a program, made fit for being read by a program.
#pragma once

#include <string>
#include <string_view>

#include "msl/rewrite.hpp"

namespace kfp::msl {

// The text with every function to be put in line wherever it is called, whatever its author wanted; but for those that
// are called from so many places that the whole would become too long to be read.
std::string with_calls_in_line(std::string_view text);

SourceMap source_map(const TokenStream& stream, const Rewritten& rewritten);

}  // namespace kfp::msl
