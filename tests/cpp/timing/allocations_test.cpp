// The timed loop allocates nothing on the software device: every allocation of the process is counted.
#include <vector>

#include "../device/image_fixture.hpp"
#include "check.hpp"
#include "counting_allocator.hpp"
#include "timing/sample_loop.hpp"

namespace {

using namespace kfp;

// Kernel 0 does not synchronise, kernel 1 does. Few threads: under a sanitizer a switch between fibers takes microseconds.
Plan many_dispatches() {
    Plan plan = test::one_dispatch(0, 128, {128, 1, 1}, {64, 1, 1});
    plan.kernels.push_back("k1");
    Dispatch barrier = plan.dispatches[0];
    barrier.kernel = 1;
    for (int i = 1; i < 40; ++i) plan.dispatches.push_back(i % 4 == 0 ? barrier : plan.dispatches[0]);
    return plan;
}

long allocations_of(const test::Fixture& fixture, bool cold) {
    RunOptions options;
    options.cold = cold;
    const Plan plan = many_dispatches();
    const auto reference = fixture.prepare(plan, options);
    options.shares = reference.get();
    const auto candidate = fixture.prepare(plan, options);
    const std::vector<timing::Arm> arms{{reference.get(), 3, false}, {candidate.get(), 3, cold}};
    std::vector<std::uint32_t> order;
    for (int block = 0; block < 2; ++block) order.insert(order.end(), {0, 1, 1, 0});
    std::vector<double> seconds(order.size());
    std::vector<double> windows(timing::most_windows);
    // Whatever is made lazily on a first use is no part of the loop.
    timing::take_samples(arms, order, seconds);
    const long before = test::allocations();
    timing::warm_up(arms[0], {.most_seconds = 0.01}, windows);
    timing::take_samples(arms, order, seconds);
    const long after = test::allocations();
    for (const double one : seconds) CHECK(one > 0.0);
    return after - before;
}

}  // namespace

int main(int, char** arguments) {
    const long at_start = test::allocations();
    for (const unsigned host_threads : {1U, 2U}) {
        const test::Fixture fixture(arguments[1], host_threads);
        CHECK_EQUAL(allocations_of(fixture, false), 0);
        CHECK_EQUAL(allocations_of(fixture, true), 0);
    }
    CHECK(test::allocations() > at_start);  // they are counted at all
    return test::outcome();
}
