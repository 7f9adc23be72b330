// The measuring loop over executions whose times are known.
#include "timing/sample_loop.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using kfp::timing::Arm;

// All executions of one device: what they were asked for, in order.
struct Log {
    std::string calls;
    unsigned queued = 0;
    unsigned most_queued = 0;
};

// Takes `seconds` for every repeat, and as many runs at once as `depth`.
class Scripted final : public kfp::Execution {
public:
    Scripted(char name, double seconds, unsigned depth, Log& log) : name_(name), depth_(depth), seconds_(seconds), log_(log) {}

    void reset() override { log_.calls += 'r'; }
    kfp::RunTime run(std::uint32_t repeats) override { return {seconds_ * repeats, 0, 0}; }
    void submit(std::uint32_t repeats) override {
        reset();
        log_.calls += name_ + std::to_string(repeats);
        log_.most_queued = std::max(log_.most_queued, ++log_.queued);
        waiting_.push_back(run(repeats));
    }
    kfp::RunTime collect() override {
        --log_.queued;
        const kfp::RunTime oldest = waiting_.front();
        waiting_.erase(waiting_.begin());
        return oldest;
    }
    unsigned most_in_flight() const override { return depth_; }
    std::span<const std::byte> contents(std::uint32_t) const override { return {}; }

    void set_seconds(double seconds) { seconds_ = seconds; }

private:
    char name_;
    unsigned depth_;
    double seconds_;
    Log& log_;
    std::vector<kfp::RunTime> waiting_;
};

void samples_come_in_the_order_asked_for() {
    for (const unsigned depth : {1U, 2U, 3U, 8U}) {
        Log log;
        Scripted a('a', 1.0, depth, log);
        Scripted b('b', 10.0, depth, log);
        const Arm arms[] = {{&a, 2, false}, {&b, 3, false}};
        const std::vector<std::uint32_t> order{0, 1, 1, 0, 0};
        std::vector<double> seconds(order.size(), -1.0);
        kfp::timing::take_samples(arms, order, seconds);
        CHECK(seconds == (std::vector<double>{2.0, 30.0, 30.0, 2.0, 2.0}));
        CHECK_EQUAL(log.calls, "ra2rb3rb3ra2ra2");
        CHECK_EQUAL(log.most_queued, std::min(depth, 3U));
        CHECK_EQUAL(log.queued, 0U);
    }
}

void runs_from_a_reset_add_up() {
    Log log;
    Scripted a('a', 1.0, 2, log);
    const Arm arms[] = {{&a, 3, true}};
    const std::vector<std::uint32_t> order{0, 0};
    std::vector<double> seconds(2);
    kfp::timing::take_samples(arms, order, seconds);
    CHECK(seconds == (std::vector<double>{3.0, 3.0}));
    CHECK_EQUAL(log.calls, "ra1ra1ra1ra1ra1ra1");
}

void the_least_patient_execution_sets_the_depth() {
    Log log;
    Scripted a('a', 1.0, 3, log);
    Scripted b('b', 1.0, 1, log);
    const Arm arms[] = {{&a, 1, false}, {&b, 1, false}};
    const std::vector<std::uint32_t> order{0, 0, 1, 0};
    std::vector<double> seconds(order.size());
    kfp::timing::take_samples(arms, order, seconds);
    CHECK_EQUAL(log.most_queued, 1U);
}

void no_samples_are_no_work() {
    Log log;
    Scripted a('a', 1.0, 1, log);
    const Arm arms[] = {{&a, 1, false}};
    kfp::timing::take_samples(arms, {}, {});
    CHECK(log.calls.empty());
}

std::vector<double> windows_of(kfp::Execution& sentinel, const kfp::timing::WarmUp& how) {
    std::vector<double> windows(kfp::timing::most_windows);
    windows.resize(kfp::timing::warm_up({&sentinel, 1, false}, how, windows));
    return windows;
}

// Gets faster by a third with every run until it is warm.
class Warming final : public kfp::Execution {
public:
    explicit Warming(double floor) : floor_(floor) {}
    void reset() override {}
    kfp::RunTime run(std::uint32_t) override {
        seconds_ = std::max(floor_, seconds_ / 1.5);
        return {seconds_, 0, 0};
    }
    std::span<const std::byte> contents(std::uint32_t) const override { return {}; }

private:
    double floor_;
    double seconds_ = 100.0;
};

void warm_is_when_two_windows_agree() {
    Log log;
    Scripted steady('s', 1.0, 1, log);
    CHECK(windows_of(steady, {}) == (std::vector<double>{1.0, 1.0}));

    Warming warming(1.0);
    const std::vector<double> windows = windows_of(warming, {});
    CHECK(windows.size() > 2);
    CHECK_EQUAL(windows.back(), 1.0);
    CHECK_EQUAL(windows[windows.size() - 2], 1.0);
}

void a_device_that_never_settles_is_given_up() {
    Warming warming(0.0);
    kfp::timing::WarmUp how;
    how.most_seconds = 0.0;
    CHECK_EQUAL(windows_of(warming, how).size(), 1U);
    // Times that are none agree with nothing, and the room for windows is an end too.
    Log log;
    Scripted broken('x', std::numeric_limits<double>::quiet_NaN(), 1, log);
    std::vector<double> few(3);
    CHECK_EQUAL(kfp::timing::warm_up({&broken, 1, false}, {}, few), 3U);
}

void a_window_of_many_samples_is_cut_short() {
    Log log;
    Scripted steady('s', 1.0, 1, log);
    kfp::timing::WarmUp how;
    how.samples_per_window = 1'000'000;
    windows_of(steady, how);
    CHECK_EQUAL(std::ranges::count(log.calls, 's'), static_cast<std::ptrdiff_t>(2 * kfp::timing::most_samples_per_window));
}

}  // namespace

int main() {
    samples_come_in_the_order_asked_for();
    runs_from_a_reset_add_up();
    the_least_patient_execution_sets_the_depth();
    no_samples_are_no_work();
    warm_is_when_two_windows_agree();
    a_device_that_never_settles_is_given_up();
    a_window_of_many_samples_is_cut_short();
    return kfp::test::outcome();
}
