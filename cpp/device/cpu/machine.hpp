// What the software device says about the machine, and the clock that it measures with.
#pragma once

#include <cstdint>
#include <string>

namespace kfp::cpu {

// Cores that this process may use: its affinity mask, and its control group's share where that is less.
unsigned usable_cores();

// "AMD EPYC, 2 cores (AVX2)"
std::string describe_machine();

// Monotonic, in nanoseconds, not adjusted by anyone.
std::uint64_t clock_ticks();
constexpr double seconds_per_tick = 1e-9;
// The smallest step that the clock was seen to make.
double measured_clock_resolution();

}  // namespace kfp::cpu
