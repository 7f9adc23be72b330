// Metal's compiler speaks in one text; this takes it apart.
#pragma once

#include <string_view>
#include <vector>

#include "device/device.hpp"

namespace kfp::metal {

// One diagnostic for each "program_source:12:5: error: ..." of `text`. One that points into a header keeps its message,
// which then names that place. Source excerpts, carets and summaries are dropped.
std::vector<Diagnostic> parse_diagnostics(std::string_view text);

}  // namespace kfp::metal
