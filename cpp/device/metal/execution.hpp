#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "device/metal/context.hpp"
#include "device/metal/pipeline.hpp"

namespace kfp::metal {

// Needs an autorelease scope around it. Throws PlanError, PipelineError, ExecutionError (no memory).
std::unique_ptr<Execution> make_execution(std::shared_ptr<const Context> context,
                                          std::shared_ptr<const std::vector<Pipeline>> pipelines, const Plan& plan,
                                          std::span<const std::byte> contents, const RunOptions& options,
                                          Progress* progress);

}  // namespace kfp::metal
