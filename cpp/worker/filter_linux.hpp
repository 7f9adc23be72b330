// System-call filters (seccomp-bpf), written out by hand for x86-64 and arm64.
#pragma once

#include <linux/filter.h>

#include <vector>

namespace kfp::detail {

// For a compiler: everything but what reaches other processes, the network, the kernel's configuration or a second
// program. `executable` is the only pointer that execve may be called with.
std::vector<sock_filter> command_filter(const char* executable);

// For a sealed worker: memory that isn't executable, threads, clocks, and the descriptors that it already has.
std::vector<sock_filter> sealed_filter();

// Applies to every thread of the process. False with errno set where the kernel has no such filter. Async-signal-safe.
bool install_filter(const std::vector<sock_filter>& program) noexcept;

}  // namespace kfp::detail
