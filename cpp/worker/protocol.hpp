// What parent and worker say to each other. One request, one reply, in turn, over a stream socket.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "device/plan.hpp"
#include "timing/sample_loop.hpp"
#include "worker/wire.hpp"

namespace kfp {

constexpr int worker_channel = 3;  // the worker's end of the socket

enum class Request : std::uint32_t { open, warm, compile, prepare, run, sample, read, quit, intermediate, counts };

enum class Status : std::uint32_t {
    ok,
    plan_error,
    pipeline_error,
    device_unavailable,
    fault,          // of the candidate's: the device refused or lost the run
    out_of_memory,
    refused,
    error,          // of our own: the installation, a full disk
};

constexpr std::uint32_t frame_magic = 0x6b667031;  // "kfp1"
constexpr std::uint32_t no_execution = UINT32_MAX;
constexpr std::uint32_t most_counters = 1 << 20;
constexpr std::uint64_t max_request_bytes = std::uint64_t{256} << 20;

struct FrameHeader {
    std::uint32_t magic = frame_magic;
    std::uint32_t kind = 0;  // a Request one way, a Status the other
    std::uint64_t length = 0;
};
static_assert(sizeof(FrameHeader) == 16);

// Descriptors that travel beside a request: `open` brings the status page; `prepare` the contents and the outputs.
constexpr std::size_t max_frame_descriptors = 2;

// A page that both sides map: where the worker is and, if it could still say so, what went wrong. It is written by a
// process that may be hostile; the parent takes a copy and believes nothing in it.
struct StatusPage {
    Progress progress;
    std::uint32_t fault_kind = 0;  // a FaultKind
    std::uint32_t reserved = 0;
    std::array<char, 1024> fault_message{};
};

enum class FaultKind : std::uint32_t { none, crash, fault, memory };

// Compiling must end by itself within the limits that the parent gave; the parent's own deadline comes a little later.
struct OpenRequest {
    std::string device;
    Toolchain toolchain;
    double compile_seconds = 0.0;
    std::uint64_t compile_memory_bytes = 0;
};

// One crossing per look: samples of several executions in the order given.
struct SampleRequest {
    struct Arm {
        std::uint32_t execution = 0;
        std::uint32_t repeats = 1;
    };
    std::vector<Arm> arms;
    std::vector<std::uint32_t> order;  // indices into arms
    bool each_from_reset = false;
    std::optional<std::uint32_t> sentinel;  // an index into arms; with it a device that has rested is warmed up first
    timing::WarmUp warm_up;
};

void encode(Writer& to, const OpenRequest& request);
void encode(Writer& to, const SampleRequest& request);
void encode(Writer& to, const CompileOptions& options);
void encode(Writer& to, const Plan& plan);
void encode(Writer& to, const CompileReport& report);
void encode(Writer& to, const Intermediate& intermediate);

OpenRequest decode_open(Reader& from);
CompileOptions decode_compile_options(Reader& from);
Plan decode_plan(Reader& from);
CompileReport decode_report(Reader& from);
Intermediate decode_intermediate(Reader& from);
SampleRequest decode_sample(Reader& from);

// Valid UTF-8 without control characters other than newline and tab: what may go to a terminal or a model. Anything
// else becomes U+FFFD.
std::string printable(std::string_view text);

}  // namespace kfp
