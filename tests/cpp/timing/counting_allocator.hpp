// Counts every allocation of the process. Link counting_allocator.cpp, which replaces the global operators.
#pragma once

namespace kfp::test {

long allocations();

}  // namespace kfp::test
