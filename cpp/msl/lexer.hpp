// Translation phases 1 to 3: bytes to preprocessing tokens. Line splices and digraphs end here, so that nothing that
// follows can be misled about what the compiler is going to read.
#pragma once

#include <string_view>
#include <vector>

#include "msl/tokens.hpp"

namespace kfp::msl {

// The last token is TokenKind::end. Faults (an open comment, a NUL byte, a raw string) are reported and skipped.
std::vector<Token> lex(std::string_view source, Diagnostics& diagnostics);

}  // namespace kfp::msl
