// Which files a process may touch (Landlock), by raw system calls: C libraries have no wrappers for them.
#pragma once

#include <string>
#include <vector>

#include "worker/descriptor.hpp"

namespace kfp::detail {

// Empty where the kernel has no Landlock. Paths that don't exist are left out: nothing is there to read.
Descriptor make_ruleset(const std::vector<std::string>& readable, const std::vector<std::string>& writable);

// Applies to the calling thread and what it starts. Needs no_new_privs. Async-signal-safe.
bool enter_ruleset(const Descriptor& ruleset) noexcept;

}  // namespace kfp::detail
