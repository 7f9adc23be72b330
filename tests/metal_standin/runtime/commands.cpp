#include "commands.hpp"

#include <chrono>

#include "standin.hpp"

namespace standin {
namespace {

// Long enough for a host that doesn't wait to see old memory.
constexpr auto submission_delay = std::chrono::milliseconds(1);

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

const Class& CommandQueue::its() {
    static const Class table{"MTLCommandQueue", nullptr, {
        method<&CommandQueue::command_buffer>("commandBuffer", {10, 11}),
    }, {}};
    return table;
}

CommandBuffer* CommandQueue::command_buffer() { return make<CommandBuffer>(worker_).autoreleased(); }

void Worker::submit(Ref<CommandBuffer> commands) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(commands));
    wake_.notify_one();
}

void Worker::serve(const std::stop_token& stop) {
    for (;;) {
        Ref<CommandBuffer> commands;
        {
            std::unique_lock lock(mutex_);
            if (!wake_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
            commands = std::move(queue_.front());
            queue_.pop_front();
        }
        std::this_thread::sleep_for(submission_delay);
        commands->run();
    }
}

const Class& CommandBuffer::its() {
    static const Class table{"MTLCommandBuffer", nullptr, {
        method<&CommandBuffer::compute_encoder>("computeCommandEncoderWithDispatchType:", {10, 14}),
        method<&CommandBuffer::blit_encoder>("blitCommandEncoder", {10, 11}),
        method<&CommandBuffer::use_residency_set>("useResidencySet:", {15, 0}),
        method<&CommandBuffer::commit>("commit", {10, 11}),
        method<&CommandBuffer::wait>("waitUntilCompleted", {10, 11}),
        method<&CommandBuffer::status>("status", {10, 11}),
        method<&CommandBuffer::error>("error", {10, 11}),
        method<&CommandBuffer::start>("GPUStartTime", {10, 15}),
        method<&CommandBuffer::end>("GPUEndTime", {10, 15}),
    }, {}};
    return table;
}

CommandBuffer::State CommandBuffer::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

void CommandBuffer::open_encoder(const char* selector) {
    const std::string name = std::string("-[MTLCommandBuffer ") + selector + "]";
    if (state() != recording) fail(name + " after commit");
    if (has_open_encoder_) fail(name + " while another encoder is open");
    has_open_encoder_ = true;
}

ComputeEncoder* CommandBuffer::compute_encoder(unsigned long dispatch_type) {
    open_encoder("computeCommandEncoderWithDispatchType:");
    // The pass is run in order, which is right for the serial type alone.
    if (dispatch_type != 0) fail("a concurrent compute pass, which the stand-in does not model");
    return make<ComputeEncoder>(Ref<CommandBuffer>::retain(this)).autoreleased();
}

BlitEncoder* CommandBuffer::blit_encoder() {
    open_encoder("blitCommandEncoder");
    return make<BlitEncoder>(Ref<CommandBuffer>::retain(this)).autoreleased();
}

void CommandBuffer::use_residency_set(ResidencySet* set) {
    if (state() != recording) fail("-[MTLCommandBuffer useResidencySet:] after commit");
    set->use();
    residency_sets_.push_back(Ref<ResidencySet>::retain(set));
}

void CommandBuffer::commit() {
    if (has_open_encoder_) fail("-[MTLCommandBuffer commit] with an open encoder");
    {
        const std::lock_guard lock(mutex_);
        if (state_ != recording) fail("-[MTLCommandBuffer commit] twice");
        state_ = committed;
    }
    const auto worker = worker_.lock();
    if (!worker) fail("-[MTLCommandBuffer commit] after its queue was released");
    for (const auto& buffer : touched_) buffer->enter_flight();
    Statistics& all = statistics();
    const long queued = ++all.queued;
    for (long most = all.most_queued; most < queued && !all.most_queued.compare_exchange_weak(most, queued);) {
    }
    worker->submit(Ref<CommandBuffer>::retain(this));
}

void CommandBuffer::wait() {
    std::unique_lock lock(mutex_);
    if (state_ == recording) fail("-[MTLCommandBuffer waitUntilCompleted] before commit");
    done_.wait(lock, [this] { return state_ == completed || state_ == failed; });
    if (std::exchange(waited_, true)) return;
    for (const auto& buffer : touched_) buffer->leave_flight();
}

unsigned long CommandBuffer::status() const { return state(); }

void CommandBuffer::expect_done(const char* selector) const {
    const State now_in = state();
    if (now_in != completed && now_in != failed) {
        fail(std::string("-[MTLCommandBuffer ") + selector + "] before it completed");
    }
}

Error* CommandBuffer::error() const {
    expect_done("error");
    return error_.get();
}

double CommandBuffer::start() const {
    expect_done("GPUStartTime");
    return start_;
}

double CommandBuffer::end() const {
    expect_done("GPUEndTime");
    return end_;
}

void CommandBuffer::run() {
    State outcome = completed;
    const double begun = now();
    try {
        for (const Operation& operation : operations_) execute(operation);
    } catch (const CommandError& error) {
        outcome = failed;
        error_ = make<Error>(error.code, error.what());
    }
    const double finished = now();
    if (configuration().stamps) {
        start_ = begun;
        end_ = finished;
    }
    operations_.clear();
    --statistics().queued;
    const std::lock_guard lock(mutex_);
    state_ = outcome;
    done_.notify_all();
}

}  // namespace standin
