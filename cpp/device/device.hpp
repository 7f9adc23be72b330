// The one interface behind which every device stands. Devices know nothing of tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "device/plan.hpp"

namespace kfp {

struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct PlanError : Error {
    using Error::Error;
};
struct DeviceUnavailable : Error {  // this machine or this build can't; what() says why
    using Error::Error;
};
struct PipelineError : Error {  // compiled, but no pipeline can be made of it, or a dispatch breaks its limits
    using Error::Error;
};
struct ExecutionError : Error {  // the device refused or lost a run that was under way
    using Error::Error;
};

enum class Math : std::uint8_t { fast, precise };

struct FunctionConstant {
    std::uint32_t index = 0;
    std::vector<std::byte> value;
};

struct CompileOptions {
    Math math = Math::fast;
    // An image for the checked mode: one thread at a time, in any order, no vectorised rows.
    bool checked = false;
    // Diagnostics, signatures and pipeline limits only; the resulting library can't be run.
    bool check_only = false;
    std::vector<FunctionConstant> constants;
    // Unless empty, what the image is made of instead of what the compiler makes of the source: Intermediate::program of
    // the same source and options, with code put in that counts in `counters` numbers of 64 bits.
    std::string counting;
    std::uint32_t counters = 0;
};

enum class Severity : std::uint8_t { note, warning, error };

struct Diagnostic {
    Severity severity = Severity::error;
    std::uint32_t line = 0;    // 1-based in the user's own source; 0 where there is no place to point at
    std::uint32_t column = 0;  // 1-based
    std::string message;       // without the "program_source:12:5: error: " prefix
};

enum class ParameterKind : std::uint8_t { buffer, threadgroup, input, texture, sampler, other };

struct Parameter {
    std::string name;
    std::string type;       // as written, attributes removed, one space between tokens
    ParameterKind kind = ParameterKind::buffer;
    std::uint32_t index = 0;  // of a buffer, threadgroup, texture or sampler
    std::string attribute;    // of an input: "thread_position_in_grid" and its like
};

struct KernelInfo {
    std::string name;  // host_name where there is one
    std::vector<Parameter> parameters;
    std::uint32_t max_total_threads_per_threadgroup = 1024;
    std::uint32_t thread_execution_width = 32;
    std::uint32_t static_threadgroup_memory_length = 0;  // bytes
    // Why no pipeline can be made of this kernel although it compiled; empty when one can.
    std::string pipeline_error;
};

struct CompileReport {
    bool compile_ok = false;
    std::vector<Diagnostic> diagnostics;
    std::vector<KernelInfo> kernels;
    double seconds = 0.0;  // wall time of the compilation
};

// Where the places in an intermediate program lead to in the user's own text. Its lines hold a token each.
struct SourceMap {
    static constexpr std::uint32_t nowhere = UINT32_MAX;
    struct Token {
        std::uint32_t line = 0;  // 1-based, as is the column; of a macro's expansion: where the macro is used
        std::uint32_t column = 0;
        std::uint32_t origin = 0;  // index into origins; 0: written out in the source
        std::string text;
    };
    // A place in the body of a macro, and the same for the use of that macro.
    struct Origin {
        std::string macro;
        std::uint32_t line = 0;
        std::uint32_t column = 0;
        std::uint32_t parent = 0;
    };
    std::vector<Token> tokens;
    std::vector<Origin> origins;
    std::vector<std::uint32_t> lines;  // lines[0] is line 1: index into tokens, or nowhere
};

struct ThreadgroupArray {
    std::uint32_t token = SourceMap::nowhere;  // its name
    std::uint64_t bytes = 0;
};

// What the compiler makes of a program before it optimises, as text, and the same with every call of the program's own
// functions put in line. One function per kernel: void __kfp_thread_<i>(const kfp_launch*, x, y, z).
struct Intermediate {
    CompileReport report;
    std::string program;
    std::string inlined;
    std::string reason;  // why either is empty although the source compiles
    SourceMap map;
    std::vector<ThreadgroupArray> threadgroup_arrays;
};

class Execution;

struct RunOptions {
    // Guard pages at both ends of every buffer, poisoned threadgroup memory, permuted order from `order_seed`.
    bool checked = false;
    std::uint64_t order_seed = 0;
    std::uint32_t threads = 0;  // host threads of a software device; 0: as many as there are cores
    // A reset also sees to it that no cache holds anything of the buffers.
    bool cold = false;
    // An execution whose buffers, initial contents included, this one takes instead of having its own: two kernels are
    // then compared over the very same memory. Its buffers must be those of the plan, and it must live longer.
    const Execution* shares = nullptr;
};

struct RunTime {
    double device_seconds = 0.0;  // GPUEndTime - GPUStartTime, or what stands for it
    std::uint64_t start_ticks = 0;
    std::uint64_t end_ticks = 0;
};

// Where a run is; a device keeps it current so that a crash or hang can be named.
struct Progress {
    std::uint32_t dispatch = 0;
    std::uint32_t kernel = 0;
    std::uint32_t running = 0;  // 0 or 1
};

// A plan bound to one library: pipelines made, buffers allocated. run() allocates nothing.
class Execution {
public:
    virtual ~Execution() = default;
    // Puts every input and state buffer back to its initial content, poisons outputs and scratch.
    virtual void reset() = 0;
    // Runs the whole plan `repeats` times in one command buffer, without resets between them.
    virtual RunTime run(std::uint32_t repeats) = 0;
    // What a buffer holds now; valid until the next reset(), run() or destruction.
    virtual std::span<const std::byte> contents(std::uint32_t buffer) const = 0;

    // For the measuring loop, a reset and a run in two halves: submit() queues them, collect() waits for the oldest that
    // was queued. A device that works while its host waits does it all in submit().
    virtual void submit(std::uint32_t repeats) {
        reset();
        finished_ = run(repeats);
    }
    virtual RunTime collect() { return finished_; }
    // How many may be queued, over all executions of a device.
    virtual unsigned most_in_flight() const { return 1; }

private:
    RunTime finished_;
};

class Library {
public:
    virtual ~Library() = default;
    virtual const CompileReport& report() const = 0;
    // Everything for which a run needs the system's leave (code mapped executable, host threads started). Runs nothing
    // of the candidate's. A worker calls it right before it seals itself; prepare() calls it where nobody did.
    virtual void load() {}
    // `contents` holds the initial content of the buffers and must outlive the execution.
    // Throws PlanError, PipelineError (a kernel that is missing, too many threads, too much threadgroup memory).
    virtual std::unique_ptr<Execution> prepare(const Plan& plan, std::span<const std::byte> contents,
                                               const RunOptions& options, Progress* progress) = 0;
    // What a counting image has counted since the last call; empty for all others.
    virtual std::vector<std::uint64_t> take_counts() { return {}; }
};

struct DeviceInfo {
    std::string name;         // "cpu", "metal", "cuda": what --device takes
    std::string description;  // "AMD EPYC, 2 cores", "Apple M1 Pro"
    std::string driver;       // version of what compiles and runs: part of every cache key
    bool available = false;
    std::string reason;  // why it is not available
    bool is_virtual = false;  // paravirtualised: right or wrong yes, ranked timings no
    double tick_seconds = 0.0;  // resolution of its timestamps
    std::uint32_t max_threads_per_threadgroup = 1024;
    std::uint32_t thread_execution_width = 32;
    std::uint32_t max_threadgroup_memory_length = 32768;  // bytes
};

class Device {
public:
    virtual ~Device() = default;
    virtual const DeviceInfo& info() const = 0;
    // A source that doesn't compile is a report with compile_ok false, not an exception.
    virtual std::unique_ptr<Library> compile(std::string_view source, const CompileOptions& options) = 0;
    // Throws DeviceUnavailable where the device has no compiler of ours behind it.
    virtual Intermediate intermediate(std::string_view source, const CompileOptions& options);
};

// Where the parts that ship beside the package are. An empty path: that device says that it is unavailable.
struct Toolchain {
    std::string clang;        // absolute path of zig (driven as `zig clang`) or of a clang
    bool clang_is_zig = false;
    std::string msl_include;  // our metal_stdlib
    std::string cache;        // a writable folder for precompiled headers
    std::string sandbox;      // the kfp-worker executable, which also serves as the compiler's sandbox launcher
    bool lld_only = false;    // never link in process, as for processors that our own linker doesn't know
};

// In order of preference. A device that can't be had on this machine or in this build is listed with its reason.
std::vector<DeviceInfo> list_devices(const Toolchain& toolchain);
// Throws DeviceUnavailable.
std::unique_ptr<Device> open_device(std::string_view name, const Toolchain& toolchain);

}  // namespace kfp
