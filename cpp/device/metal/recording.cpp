#include "device/metal/recording.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace kfp::metal {
namespace {

constexpr std::array<const char*, 3> axis_names{"width", "height", "depth"};

template <class... Visitors>
struct Overloaded : Visitors... {
    using Visitors::operator()...;
};

MTL::Size size_of(const std::array<std::uint32_t, 3>& extent) { return {extent[0], extent[1], extent[2]}; }

[[noreturn]] void refuse(std::size_t dispatch, const std::string& kernel, const std::string& what) {
    throw PipelineError("dispatch " + std::to_string(dispatch) + ", kernel '" + kernel + "': " + what);
}

const Pipeline& find_pipeline(const std::vector<Pipeline>& pipelines, const std::string& name) {
    const auto found = std::ranges::find(pipelines, name, [](const Pipeline& pipeline) { return pipeline.info.name; });
    if (found == pipelines.end()) {
        std::string defined;
        for (const Pipeline& pipeline : pipelines) defined += (defined.empty() ? "'" : ", '") + pipeline.info.name + "'";
        throw PipelineError("the source defines no kernel '" + name + "'; it defines " +
                            (defined.empty() ? std::string("none") : defined));
    }
    if (!found->state) throw PipelineError("kernel '" + name + "': " + found->info.pipeline_error);
    return *found;
}

// Checks the dispatch against what the device and the pipeline can take. What breaks these rules would be undefined
// behaviour on a Mac, or an assertion that ends the process.
class Limits {
public:
    Limits(const Context& context, const Pipeline& pipeline, const Dispatch& dispatch, std::size_t number)
        : context_(context), pipeline_(pipeline), dispatch_(dispatch), number_(number) {}

    void check() const {
        check_threads();
        check_threadgroup_memory();
        check_arguments();
    }

private:
    void check_threads() const {
        const auto& extent = dispatch_.threadgroup;
        const MTL::Size& most = context_.max_threads_per_threadgroup;
        const std::array<std::uint64_t, 3> limits{most.width, most.height, most.depth};
        std::uint64_t threads = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (extent[axis] > limits[axis]) {
                refuse(number_, pipeline_.info.name,
                       "threadgroup " + std::string(axis_names[axis]) + " " + std::to_string(extent[axis]) +
                           " is more than this device's " + std::to_string(limits[axis]));
            }
            threads *= extent[axis];
        }
        if (threads > pipeline_.info.max_total_threads_per_threadgroup) {
            refuse(number_, pipeline_.info.name,
                   std::to_string(threads) + " threads per threadgroup are more than the pipeline's " +
                       std::to_string(pipeline_.info.max_total_threads_per_threadgroup));
        }
    }

    void check_threadgroup_memory() const {
        std::uint64_t bytes = pipeline_.info.static_threadgroup_memory_length;
        for (const Binding& binding : dispatch_.bindings) {
            if (const auto* memory = std::get_if<ThreadgroupBinding>(&binding.value)) bytes += memory->bytes;
        }
        if (bytes > context_.info.max_threadgroup_memory_length) {
            refuse(number_, pipeline_.info.name,
                   std::to_string(bytes) + " bytes of threadgroup memory are more than this device's " +
                       std::to_string(context_.info.max_threadgroup_memory_length));
        }
    }

    void check_arguments() const {
        for (const auto& [parameter, used] : pipeline_.arguments) {
            const bool is_memory = parameter.kind == ParameterKind::threadgroup;
            if (!used || (parameter.kind != ParameterKind::buffer && !is_memory)) continue;
            const auto binds = [&, index = parameter.index](const Binding& binding) {
                return binding.index == index && std::holds_alternative<ThreadgroupBinding>(binding.value) == is_memory;
            };
            if (std::ranges::none_of(dispatch_.bindings, binds)) {
                refuse(number_, pipeline_.info.name,
                       "nothing is bound to argument '" + parameter.name + "' at [[" +
                           (is_memory ? "threadgroup(" : "buffer(") + std::to_string(parameter.index) + ")]]");
            }
        }
    }

    const Context& context_;
    const Pipeline& pipeline_;
    const Dispatch& dispatch_;
    std::size_t number_;
};

}  // namespace

Recording::Recording(const Context& context, const std::vector<Pipeline>& pipelines, const Plan& plan,
                     std::span<const NS::SharedPtr<MTL::Buffer>> buffers) {
    std::vector<const Pipeline*> kernels;
    for (const std::string& name : plan.kernels) kernels.push_back(&find_pipeline(pipelines, name));

    const auto resolve = Overloaded{
        [&](const BufferBinding& binding) -> decltype(Bound::value) {
            return BoundBuffer{buffers[binding.buffer].get(), binding.offset};
        },
        [](const BytesBinding& binding) -> decltype(Bound::value) { return BoundBytes{binding.bytes}; },
        [](const ThreadgroupBinding& binding) -> decltype(Bound::value) {
            return BoundThreadgroupMemory{binding.bytes};
        },
    };
    calls_.reserve(plan.dispatches.size());
    for (std::size_t number = 0; number < plan.dispatches.size(); ++number) {
        const Dispatch& dispatch = plan.dispatches[number];
        const Pipeline& pipeline = *kernels[dispatch.kernel];
        Limits(context, pipeline, dispatch, number).check();
        calls_.push_back({pipeline.state.get(), bound_.size(), dispatch.bindings.size(), size_of(dispatch.grid),
                          size_of(dispatch.threadgroup)});
        for (const Binding& binding : dispatch.bindings) {
            bound_.push_back({binding.index, std::visit(resolve, binding.value)});
        }
    }
}

void Recording::encode(MTL::ComputeCommandEncoder& encoder) const {
    const MTL::ComputePipelineState* current = nullptr;
    for (const Call& call : calls_) {
        if (call.pipeline != current) encoder.setComputePipelineState(current = call.pipeline);
        for (const Bound& bound : std::span(bound_).subspan(call.first_bound, call.bound_count)) {
            std::visit(Overloaded{
                           [&](const BoundBuffer& b) { encoder.setBuffer(b.buffer, b.offset, bound.index); },
                           [&](const BoundBytes& b) { encoder.setBytes(b.bytes.data(), b.bytes.size(), bound.index); },
                           [&](const BoundThreadgroupMemory& b) {
                               encoder.setThreadgroupMemoryLength(b.bytes, bound.index);
                           },
                       },
                       bound.value);
        }
        encoder.dispatchThreads(call.grid, call.threadgroup);
    }
}

}  // namespace kfp::metal
