// Names what a kernel did when the hardware stops it: which buffer, where, or which other fault.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/cpu/image.hpp"
#include "device/cpu/memory.hpp"
#include "device/plan.hpp"

namespace kfp::cpu {

// Called in a signal handler, on the faulting thread, with a message that says what the kernel did. It must be
// async-signal-safe and should end the process; if it returns, the signal ends it. Setting a sink installs the handlers;
// nullptr puts the former ones back.
using FaultSink = void (*)(const char* message, std::uint32_t dispatch, std::uint32_t kernel);
void set_fault_sink(FaultSink sink);

// Every thread that runs kernels needs a stack of its own for the handlers: a kernel may have used up the other one.
void install_fault_stack();

// What the handlers know of the run that is under way.
struct RunUnderWay {
    const Plan* plan = nullptr;
    const BufferStore* buffers = nullptr;
    const Image* image = nullptr;
    bool checked = false;  // then a division by zero is a fault, too
    std::atomic<std::uint32_t> dispatch{0};
};

// While it exists, faults are put down to `run`.
class FaultScope {
public:
    explicit FaultScope(const RunUnderWay& run);
    ~FaultScope();
    FaultScope(const FaultScope&) = delete;
    FaultScope& operator=(const FaultScope&) = delete;
};

}  // namespace kfp::cpu
