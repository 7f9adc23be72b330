#include "device/metal/pipeline.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "device/metal/objects.hpp"

namespace kfp::metal {
namespace {

constexpr std::size_t largest_constant = 32;  // bytes of a long4

// Metal wants the type of a constant together with its value; only the function knows it.
NS::SharedPtr<MTL::FunctionConstantValues> constant_values(const NS::Dictionary& declared,
                                                           const std::vector<FunctionConstant>& constants) {
    auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
    auto* const names = declared.keyEnumerator<NS::String>();
    while (const auto* name = names->nextObject()) {
        const auto* constant = declared.object<MTL::FunctionConstant>(name);
        const auto given = std::ranges::find(constants, constant->index(), &FunctionConstant::index);
        if (given == constants.end()) continue;
        // Metal reads as many bytes as the type has, however few were given.
        std::array<std::byte, largest_constant> value{};
        std::ranges::copy(std::span(given->value).first(std::min(given->value.size(), value.size())), value.begin());
        values->setConstantValue(value.data(), constant->type(), constant->index());
    }
    return values;
}

NS::SharedPtr<MTL::Function> specialised(MTL::Library& library, NS::SharedPtr<MTL::Function> function,
                                         const std::vector<FunctionConstant>& constants, NS::Error** error) {
    const NS::Dictionary* declared = function->functionConstantsDictionary();
    if (declared == nullptr || declared->count() == 0) return function;
    const auto values = constant_values(*declared, constants);
    return NS::TransferPtr(library.newFunction(function->name(), values.get(), error));
}

Pipeline make_pipeline(MTL::Device& device, MTL::Library& library, NS::SharedPtr<MTL::Function> function,
                       const std::vector<FunctionConstant>& constants) {
    Pipeline pipeline;
    pipeline.info.name = text_of(function->name());
    NS::Error* error = nullptr;
    function = specialised(library, std::move(function), constants, &error);
    MTL::ComputePipelineReflection* reflection = nullptr;
    if (function) {
        const auto wanted = MTL::PipelineOptionBindingInfo | MTL::PipelineOptionBufferTypeInfo;
        pipeline.state = NS::TransferPtr(device.newComputePipelineState(function.get(), wanted, &reflection, &error));
    }
    if (!pipeline.state) {
        pipeline.info.pipeline_error = text_of(error);
        return pipeline;
    }
    pipeline.info.max_total_threads_per_threadgroup =
        static_cast<std::uint32_t>(pipeline.state->maxTotalThreadsPerThreadgroup());
    pipeline.info.thread_execution_width = static_cast<std::uint32_t>(pipeline.state->threadExecutionWidth());
    pipeline.info.static_threadgroup_memory_length =
        static_cast<std::uint32_t>(pipeline.state->staticThreadgroupMemoryLength());
    pipeline.arguments = arguments_of(reflection);
    for (const Argument& argument : pipeline.arguments) pipeline.info.parameters.push_back(argument.parameter);
    return pipeline;
}

}  // namespace

std::vector<Pipeline> make_pipelines(MTL::Device& device, MTL::Library& library,
                                     const std::vector<FunctionConstant>& constants) {
    std::vector<Pipeline> pipelines;
    const NS::Array* names = library.functionNames();
    for (NS::UInteger i = 0; i < names->count(); ++i) {
        auto function = NS::TransferPtr(library.newFunction(names->object<NS::String>(i)));
        if (!function || function->functionType() != MTL::FunctionTypeKernel) continue;
        pipelines.push_back(make_pipeline(device, library, std::move(function), constants));
    }
    // Metal promises no order.
    std::ranges::sort(pipelines, {}, [](const Pipeline& pipeline) { return pipeline.info.name; });
    return pipelines;
}

}  // namespace kfp::metal
