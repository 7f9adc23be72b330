// What confine.cpp needs of each operating system.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <memory>

#include "worker/confine.hpp"

namespace kfp::detail {

// Whoever stops a job or a service signals all its processes at once. It is for kfp to stop its worker, and for the worker
// to stop its compiler: one that died on its own would pass for one that its kernel took down.
inline constexpr std::array asks_to_stop{SIGTERM, SIGINT, SIGHUP};

// Whether the user accepts a machine that offers no system-call filter.
bool unconfined_allowed();

// Everything that a confined child needs is built before the fork; enter() runs in the child, where only plain system
// calls are safe.
class ChildSandbox {
public:
    ChildSandbox() = default;
    ChildSandbox(const ChildSandbox&) = delete;
    ChildSandbox& operator=(const ChildSandbox&) = delete;
    virtual ~ChildSandbox() = default;
    // Null, or the name of the step that failed (errno says how).
    virtual const char* enter() const noexcept = 0;
};

// `executable` is the very pointer that the child will hand to execve.
std::unique_ptr<ChildSandbox> make_child_sandbox(const Command& command, const char* executable);

// Makes every descriptor from `first` on vanish, now or at the next execve; both async-signal-safe.
void close_from(int first) noexcept;
void close_from_on_exec(int first) noexcept;

}  // namespace kfp::detail
