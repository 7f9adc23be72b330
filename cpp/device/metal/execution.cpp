#include "device/metal/execution.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <optional>
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

// A command buffer of its own, from the first encoder to the device's answer.
class Submission {
public:
    Submission() = default;
    Submission(const Context& context, const Buffers& buffers)
        : commands_(NS::RetainPtr(context.queue->commandBuffer())) {
        if (!commands_) throw ExecutionError("metal: the queue made no command buffer");
        buffers.make_resident(*commands_.get());
    }

    template <class Encoder>
    static Encoder& made(Encoder* encoder) {
        if (encoder == nullptr) throw ExecutionError("metal: the command buffer made no encoder");
        return *encoder;
    }

    MTL::ComputeCommandEncoder& compute() { return made(commands_->computeCommandEncoder(MTL::DispatchTypeSerial)); }
    MTL::BlitCommandEncoder& blit() { return made(commands_->blitCommandEncoder()); }

    void commit() { commands_->commit(); }
    // Returns when the device is done; throws ExecutionError, which names `work`, if it failed.
    void wait(const std::string& work) const {
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
    NS::SharedPtr<MTL::CommandBuffer> commands_;
};

const std::string reset_work = "the reset of the buffers";

// Enough that the device never waits for the host between two samples, whose clock would fall.
constexpr unsigned queued_runs = 3;

class MetalExecution final : public Execution {
public:
    MetalExecution(std::shared_ptr<const Context> context, std::shared_ptr<const std::vector<Pipeline>> pipelines,
                   const Plan& plan, std::span<const std::byte> contents, const RunOptions& options, Progress* progress)
        : context_(std::move(context)),
          pipelines_(std::move(pipelines)),
          plan_(plan),
          work_(listed(plan.kernels)),
          progress_(progress),
          buffers_(place_buffers(contents, options)),
          recording_(*context_, *pipelines_, plan_, buffers_->all()) {
        if (options.cold) flush_ = make_flush_buffer(*context_);
    }

    // Nothing may be freed that the device still works on.
    ~MetalExecution() override {
        const AutoreleaseScope scope;
        while (count_ != 0) {
            try {
                collect();
            } catch (const ExecutionError&) {  // of a run that nobody asked about
            }
        }
    }

    void reset() override {
        const AutoreleaseScope scope;
        const Submission submission = commit_reset();
        submission.wait(reset_work);
    }

    RunTime run(std::uint32_t repeats) override {
        const AutoreleaseScope scope;
        queue({}, repeats);
        return collect();
    }

    void submit(std::uint32_t repeats) override {
        const AutoreleaseScope scope;
        queue(commit_reset(), repeats);
    }

    RunTime collect() override {
        const AutoreleaseScope scope;
        Queued& oldest = queued_[first_];
        first_ = (first_ + 1) % queued_runs;
        if (--count_ == 0 && progress_ != nullptr) progress_->running = 0;
        const Queued done = std::exchange(oldest, {});
        if (done.reset) done.reset->wait(reset_work);
        done.run.wait(work_);
        const std::chrono::duration<double> on_host = std::chrono::steady_clock::now() - done.host_start;
        return time_of(done.run, on_host.count());
    }

    // A device without stamps is timed by the host, which sees a queue's time, not a run's.
    unsigned most_in_flight() const override { return context_->info.is_virtual ? 1 : queued_runs; }

    std::span<const std::byte> contents(std::uint32_t buffer) const override {
        const BufferSpec& spec = plan_.buffers.at(buffer);
        return {static_cast<const std::byte*>(buffers_->all()[buffer]->contents()), spec.bytes};
    }

private:
    struct Queued {
        std::optional<Submission> reset;
        Submission run;
        std::chrono::steady_clock::time_point host_start;
    };

    std::shared_ptr<const Buffers> place_buffers(std::span<const std::byte> contents, const RunOptions& options) const {
        if (options.shares == nullptr) return std::make_shared<const Buffers>(*context_, plan_.buffers, contents);
        const auto* const shared = dynamic_cast<const MetalExecution*>(options.shares);
        if (shared == nullptr) throw PlanError("an execution of another device has no buffers to share");
        require_same_buffers(plan_, shared->plan_);
        return shared->buffers_;
    }

    Submission commit_reset() {
        Submission submission(*context_, *buffers_);
        MTL::BlitCommandEncoder& encoder = submission.blit();
        buffers_->encode_reset(encoder);
        if (flush_) encoder.fillBuffer(flush_.get(), NS::Range(0, flush_->length()), 0);
        encoder.endEncoding();
        submission.commit();
        return submission;
    }

    void queue(std::optional<Submission> reset, std::uint32_t repeats) {
        if (progress_ != nullptr) *progress_ = {0, 0, 1};
        const auto host_start = std::chrono::steady_clock::now();
        Submission submission(*context_, *buffers_);
        MTL::ComputeCommandEncoder& encoder = submission.compute();
        for (std::uint32_t i = 0; i < repeats; ++i) recording_.encode(encoder);
        encoder.endEncoding();
        submission.commit();
        queued_[(first_ + count_++) % queued_runs] = {std::move(reset), std::move(submission), host_start};
    }

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
    std::shared_ptr<const Buffers> buffers_;
    Recording recording_;
    NS::SharedPtr<MTL::Buffer> flush_;  // null in a warm execution
    std::array<Queued, queued_runs> queued_{};
    unsigned first_ = 0;
    unsigned count_ = 0;
};

}  // namespace

std::unique_ptr<Execution> make_execution(std::shared_ptr<const Context> context,
                                          std::shared_ptr<const std::vector<Pipeline>> pipelines, const Plan& plan,
                                          std::span<const std::byte> contents, const RunOptions& options,
                                          Progress* progress) {
    validate(plan);
    auto execution =
        std::make_unique<MetalExecution>(std::move(context), std::move(pipelines), plan, contents, options, progress);
    execution->reset();
    return execution;
}

}  // namespace kfp::metal
