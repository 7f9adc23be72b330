#include "timing/sample_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace kfp::timing {
namespace {

constexpr unsigned most_queued = 3;

// Runs on their way, the oldest first.
class Queue {
public:
    explicit Queue(unsigned depth) : depth_(std::clamp(depth, 1U, most_queued)) {}

    void submit(Execution& execution, std::uint32_t repeats, double& seconds) {
        if (count_ == depth_) collect();
        execution.submit(repeats);
        runs_[(first_ + count_++) % most_queued] = {&execution, &seconds};
    }
    void drain() {
        while (count_ != 0) collect();
    }

private:
    struct Run {
        Execution* execution;
        double* seconds;
    };

    void collect() {
        const Run run = runs_[first_];
        first_ = (first_ + 1) % most_queued;
        --count_;
        *run.seconds += run.execution->collect().device_seconds;
    }

    unsigned depth_;
    std::array<Run, most_queued> runs_{};
    unsigned first_ = 0;
    unsigned count_ = 0;
};

unsigned depth_of(std::span<const Arm> arms) {
    unsigned depth = most_queued;
    for (const Arm& arm : arms) depth = std::min(depth, arm.execution->most_in_flight());
    return depth;
}

}  // namespace

void take_samples(std::span<const Arm> arms, std::span<const std::uint32_t> order, std::span<double> seconds) {
    std::ranges::fill(seconds, 0.0);
    Queue queue(depth_of(arms));
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Arm& arm = arms[order[i]];
        const std::uint32_t runs = arm.each_from_reset ? arm.repeats : 1;
        const std::uint32_t repeats = arm.each_from_reset ? 1 : arm.repeats;
        for (std::uint32_t run = 0; run < runs; ++run) queue.submit(*arm.execution, repeats, seconds[i]);
    }
    queue.drain();
}

std::size_t warm_up(const Arm& sentinel, const WarmUp& how, std::span<double> windows) {
    static constexpr std::array<std::uint32_t, most_samples_per_window> order{};
    std::array<double, most_samples_per_window> samples{};
    const std::size_t count = std::clamp<std::size_t>(how.samples_per_window, 1, samples.size());
    const auto began = std::chrono::steady_clock::now();
    std::size_t done = 0;
    double before = std::numeric_limits<double>::quiet_NaN();
    while (done < windows.size()) {
        const auto window = std::span(samples).first(count);
        take_samples({&sentinel, 1}, std::span(order).first(count), window);
        std::ranges::nth_element(window, window.begin() + static_cast<std::ptrdiff_t>(count / 2));
        const double median = window[count / 2];
        windows[done++] = median;
        if (std::abs(median - before) <= how.agreement * before) break;
        if (std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() >= how.most_seconds) break;
        before = median;
    }
    return done;
}

}  // namespace kfp::timing
