// What Metal says about the arguments of a pipeline.
#pragma once

#include <vector>

#include "device/device.hpp"
#include "device/metal/metal_cpp.hpp"

namespace kfp::metal {

struct Argument {
    Parameter parameter;  // `type` is that of an element; input attributes are unknown to Metal's reflection
    bool used = false;
};

std::vector<Argument> arguments_of(const MTL::ComputePipelineReflection* reflection);

}  // namespace kfp::metal
