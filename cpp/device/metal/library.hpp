#pragma once

#include <memory>
#include <string_view>

#include "device/device.hpp"
#include "device/metal/context.hpp"

namespace kfp::metal {

// Needs an autorelease scope around it.
std::unique_ptr<Library> compile_library(std::shared_ptr<const Context> context, std::string_view source,
                                         const CompileOptions& options);

}  // namespace kfp::metal
