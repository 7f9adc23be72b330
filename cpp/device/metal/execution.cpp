#include "device/metal/execution.hpp"

#include <chrono>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "device/metal/buffers.hpp"
#include "device/metal/objects.hpp"
#include "device/metal/recording.hpp"

namespace kfp::metal {
namespace {

std::string_view explanation(NS::Integer code) {
    switch (code) {
        case MTL::CommandBufferErrorTimeout: return "it ran for too long and was stopped";
        case MTL::CommandBufferErrorPageFault: return "it accessed memory outside of its buffers";
        case MTL::CommandBufferErrorAccessRevoked: return "this process lost its access to the device after earlier errors";
        case MTL::CommandBufferErrorNotPermitted: return "the device is not permitted to this process";
        case MTL::CommandBufferErrorOutOfMemory: return "the device ran out of memory";
        case MTL::CommandBufferErrorInvalidResource: return "a resource was invalid";
        case MTL::CommandBufferErrorDeviceRemoved: return "the device was removed";
        case MTL::CommandBufferErrorStackOverflow: return "a thread's stack overflowed";
        default: return "the device reports an error";
    }
}

std::string listed(const std::vector<std::string>& kernels) {
    std::string text;
    for (const std::string& kernel : kernels) text += (text.empty() ? "'" : ", '") + kernel + "'";
    return (kernels.size() == 1 ? "kernel " : "kernels ") + text;
}

// A command buffer on its way; what it holds lives until the enclosing autorelease scope ends.
class Submission {
public:
    Submission(const Context& context, const Buffers& buffers) : commands_(context.queue->commandBuffer()) {
        if (commands_ == nullptr) throw ExecutionError("metal: the queue made no command buffer");
        buffers.make_resident(*commands_);
    }

    template <class Encoder>
    static Encoder& made(Encoder* encoder) {
        if (encoder == nullptr) throw ExecutionError("metal: the command buffer made no encoder");
        return *encoder;
    }

    MTL::ComputeCommandEncoder& compute() { return made(commands_->computeCommandEncoder(MTL::DispatchTypeSerial)); }
    MTL::BlitCommandEncoder& blit() { return made(commands_->blitCommandEncoder()); }

    // Returns when the device is done; throws ExecutionError, which names `work`, if it failed.
    void finish(const std::string& work) {
        commands_->commit();
        commands_->waitUntilCompleted();
        if (commands_->status() == MTL::CommandBufferStatusCompleted) return;
        const NS::Error* error = commands_->error();
        const NS::Integer code = error == nullptr ? 0 : error->code();
        throw ExecutionError(work + " did not complete: " + std::string(explanation(code)) + " (" + text_of(error) +
                             ")");
    }

    double start_seconds() const { return commands_->GPUStartTime(); }
    double end_seconds() const { return commands_->GPUEndTime(); }

private:
    MTL::CommandBuffer* commands_;  // autoreleased
};

class Running {
public:
    explicit Running(Progress* progress) : progress_(progress) {
        if (progress_ != nullptr) *progress_ = {0, 0, 1};
    }
    ~Running() {
        if (progress_ != nullptr) progress_->running = 0;
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

private:
    Progress* progress_;
};

class MetalExecution final : public Execution {
public:
    MetalExecution(std::shared_ptr<const Context> context, std::shared_ptr<const std::vector<Pipeline>> pipelines,
                   const Plan& plan, std::span<const std::byte> contents, Progress* progress)
        : context_(std::move(context)),
          pipelines_(std::move(pipelines)),
          plan_(plan),
          work_(listed(plan.kernels)),
          progress_(progress),
          buffers_(*context_, plan_.buffers, contents),
          recording_(*context_, *pipelines_, plan_, buffers_.all()) {}

    void reset() override {
        const AutoreleaseScope scope;
        Submission submission(*context_, buffers_);
        MTL::BlitCommandEncoder& encoder = submission.blit();
        buffers_.encode_reset(encoder);
        encoder.endEncoding();
        submission.finish("the reset of the buffers");
    }

    RunTime run(std::uint32_t repeats) override {
        const AutoreleaseScope scope;
        const Running running(progress_);
        const auto host_start = std::chrono::steady_clock::now();
        Submission submission(*context_, buffers_);
        MTL::ComputeCommandEncoder& encoder = submission.compute();
        for (std::uint32_t i = 0; i < repeats; ++i) recording_.encode(encoder);
        encoder.endEncoding();
        submission.finish(work_);
        const std::chrono::duration<double> on_host = std::chrono::steady_clock::now() - host_start;
        return time_of(submission, on_host.count());
    }

    std::span<const std::byte> contents(std::uint32_t buffer) const override {
        const BufferSpec& spec = plan_.buffers.at(buffer);
        return {static_cast<const std::byte*>(buffers_.all()[buffer]->contents()), spec.bytes};
    }

private:
    RunTime time_of(const Submission& submission, double host_seconds) const {
        const double start = submission.start_seconds();
        const double end = submission.end_seconds();
        const double tick = context_->info.tick_seconds;
        if (std::isfinite(start) && std::isfinite(end) && start > 0.0 && end > start) {
            return {end - start, static_cast<std::uint64_t>(std::llround(start / tick)),
                    static_cast<std::uint64_t>(std::llround(end / tick))};
        }
        // A paravirtualised device may stamp nothing. Its times are never ranked, so the host's do.
        if (context_->info.is_virtual) return {host_seconds, 0, 0};
        throw ExecutionError(work_ + ": expected increasing GPU timestamps, got " + std::to_string(start) + " s and " +
                             std::to_string(end) + " s");
    }

    std::shared_ptr<const Context> context_;
    std::shared_ptr<const std::vector<Pipeline>> pipelines_;
    Plan plan_;
    std::string work_;
    Progress* progress_;
    Buffers buffers_;
    Recording recording_;
};

}  // namespace

std::unique_ptr<Execution> make_execution(std::shared_ptr<const Context> context,
                                          std::shared_ptr<const std::vector<Pipeline>> pipelines, const Plan& plan,
                                          std::span<const std::byte> contents, Progress* progress) {
    validate(plan);
    auto execution =
        std::make_unique<MetalExecution>(std::move(context), std::move(pipelines), plan, contents, progress);
    execution->reset();
    return execution;
}

}  // namespace kfp::metal
