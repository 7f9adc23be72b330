// Our own preprocessor. The compiler never sees a directive of the user's: no file can be included, probed or embedded,
// and every token keeps its exact place in the user's text through all macros.
#pragma once

#include <optional>
#include <string_view>

#include "msl/tokens.hpp"

namespace kfp::msl {

TokenStream preprocess(std::string_view source, Diagnostics& diagnostics);

bool is_metal_header(std::string_view name);

// Compiler builtins that compute and do nothing else. The others could reach the host.
bool is_permitted_builtin(std::string_view name);

// The value of an #if condition whose macros have been expanded. An error is reported at its place, and is false.
// Identifiers other than `true` are 0.
bool evaluate_condition(const std::vector<Token>& tokens, Position directive, Diagnostics& diagnostics);
// The value of an integer constant expression of literals only.
std::optional<std::int64_t> evaluate_integer(const std::vector<Token>& tokens);

}  // namespace kfp::msl
