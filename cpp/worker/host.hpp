// The parent's side of a worker. It trusts the process at the other end with nothing: every wait has a deadline, every
// byte is checked, and anything out of order ends in a dead process and a WorkerFailure.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "worker/descriptor.hpp"
#include "worker/protocol.hpp"
#include "worker/shared_memory.hpp"
#include "worker/spawn.hpp"

namespace kfp {

enum class Failure : std::uint8_t { timeout, crash, fault, memory, refused, output, protocol };

struct WorkerFailure : Error {
    WorkerFailure(Failure what, const std::string& message, std::optional<std::string> in_kernel = {},
                  std::optional<std::uint32_t> in_dispatch = {})
        : Error(message), kind(what), kernel(std::move(in_kernel)), dispatch(in_dispatch) {}
    Failure kind;
    std::optional<std::string> kernel;
    std::optional<std::uint32_t> dispatch;
};

struct WorkerLimits {
    double compile_seconds = 20.0;
    double run_seconds = 60.0;
    std::uint64_t compile_memory_bytes = std::uint64_t{2} << 30;
    std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // beyond the plans' buffers
    std::uint64_t output_bytes = std::uint64_t{1} << 20;
};

// A plan, ready to be sent: its encoding, and the initial contents in memory that nobody can write to any more.
struct PlanImage {
    Plan plan;
    std::string encoded;
    SharedMemory contents;
    std::uint64_t buffer_bytes = 0;  // of all buffers together
};

struct RunReport {
    double device_seconds = 0.0;
    double wall_seconds = 0.0;
};

struct SampleReport : RunReport {
    std::vector<double> seconds;  // of every sample, in the order asked for
    std::vector<double> warm_up;  // medians of the sentinel's windows, if there were any
};

class WorkerHost {
public:
    // `interrupted` is called now and then during a wait; what it throws ends the worker and passes on.
    WorkerHost(const std::string& device, const Toolchain& toolchain, const WorkerLimits& limits,
               std::function<void()> interrupted);
    WorkerHost(const WorkerHost&) = delete;
    WorkerHost& operator=(const WorkerHost&) = delete;
    ~WorkerHost();

    int pid() const { return pid_; }
    bool closed() const { return !running_; }
    std::pair<std::uint32_t, CompileReport> compile(std::string_view source, const CompileOptions& options);
    // What the compiler makes of a source, as text; its calls put in line as well.
    Intermediate intermediate(std::string_view source, const CompileOptions& options);
    // What a library that counts has counted since it was asked last.
    std::vector<std::uint64_t> take_counts(std::uint32_t library);
    // `shares` is an execution whose buffers this one takes (RunOptions::shares itself doesn't cross).
    std::uint32_t prepare(std::uint32_t library, std::shared_ptr<const PlanImage> plan, const RunOptions& options,
                          std::optional<std::uint32_t> shares = {});
    RunReport run(std::uint32_t execution, bool reset);
    SampleReport sample(const SampleRequest& request);
    // The size of a buffer that may be read, and its content into exactly that many bytes.
    std::uint64_t buffer_bytes(std::uint32_t execution, std::uint32_t buffer) const;
    void read(std::uint32_t execution, std::uint32_t buffer, std::span<std::byte> into);
    void close() noexcept;

private:
    using Clock = std::chrono::steady_clock;
    struct Execution {
        std::shared_ptr<const PlanImage> plan;
        SharedMemory outputs;
    };
    struct Reply {
        std::string payload;
        double wall_seconds = 0.0;
    };

    void start(const Toolchain& toolchain);
    void warm(Math math);
    Reply exchange(Request request, std::string payload, double seconds, std::uint64_t most_reply,
                   std::span<const int> descriptors = {}, const PlanImage* plan = nullptr);
    void send(std::string_view bytes, std::span<const int> descriptors, Clock::time_point deadline, double seconds);
    void receive(char* data, std::size_t size, Clock::time_point deadline, double seconds);
    void await(short events, Clock::time_point deadline, double seconds);
    void drain_errors();
    [[noreturn]] void raise_status(Status status, std::string_view payload);
    [[noreturn]] void fail(Failure kind, std::string message);
    [[noreturn]] void fail_as_it_died();
    void limit_memory(std::uint64_t bytes);
    const Execution& execution(std::uint32_t number) const;
    std::uint64_t readable_bytes(std::uint32_t number, std::uint32_t buffer) const;
    int end_process() noexcept;

    mutable std::mutex one_at_a_time_;
    WorkerLimits limits_;
    std::optional<ScratchFolder> scratch_;
    std::function<void()> interrupted_;
    int pid_ = -1;
    std::atomic<bool> running_ = false;
    Descriptor channel_;
    Descriptor errors_;
    std::string error_text_;
    std::uint64_t error_bytes_ = 0;
    SharedMemory status_;
    Mapping status_page_;
    std::array<bool, 2> warmed_{};  // by Math
    std::vector<Execution> executions_;
    std::vector<std::uint32_t> counters_;  // by library
    const PlanImage* current_plan_ = nullptr;  // of the request under way, to name kernels by
    std::uint64_t plan_bytes_ = 0;
};

}  // namespace kfp
