// The measuring loop: resets and timed runs in a given order, with no allocation and nothing else between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device/device.hpp"

namespace kfp::timing {

// What a sample of one kernel is: `repeats` runs of an execution.
struct Arm {
    Execution* execution = nullptr;
    std::uint32_t repeats = 1;
    // Each of the repeats starts from a reset; otherwise only the first does, and the others from what the last run left.
    bool each_from_reset = false;
};

// Fills `seconds` with the device time of one sample of arms[order[i]] for every i, in that order: the sum over its
// repeats, resets left out. Keeps as many runs queued as the device takes. The two spans have the same length.
void take_samples(std::span<const Arm> arms, std::span<const std::uint32_t> order, std::span<double> seconds);

// When a device counts as warm: two windows in a row of the sentinel agree.
struct WarmUp {
    std::uint32_t samples_per_window = 5;
    double agreement = 0.01;      // relative difference of two windows' medians
    double most_seconds = 2.0;    // of wall time; after it the device is what it is
    double idle_seconds = 0.1;    // a device that rested for less is still warm
};

constexpr std::size_t most_samples_per_window = 32;
constexpr std::size_t most_windows = 1024;

// Runs the sentinel until it agrees with itself. Returns the medians of the windows in `windows`, of which there is
// room for at least two, as many as the result says.
std::size_t warm_up(const Arm& sentinel, const WarmUp& how, std::span<double> windows);

}  // namespace kfp::timing
