#pragma once

#include <vector>

#include "device/device.hpp"
#include "device/metal/metal_cpp.hpp"
#include "device/metal/reflection.hpp"

namespace kfp::metal {

// A kernel of a compiled library; `state` is null where info.pipeline_error says why.
struct Pipeline {
    KernelInfo info;
    std::vector<Argument> arguments;
    NS::SharedPtr<MTL::ComputePipelineState> state;
};

// One per kernel function of the library, by name. Needs an autorelease scope around it.
std::vector<Pipeline> make_pipelines(MTL::Device& device, MTL::Library& library,
                                     const std::vector<FunctionConstant>& constants);

}  // namespace kfp::metal
