// The checked mode: orders that differ between seeds and not between runs, poison, damaged margins.
#include <cmath>
#include <set>

#include "check.hpp"
#include "device/image_fixture.hpp"

using namespace kfp;
using namespace kfp::test;

namespace {

RunOptions with_seed(std::uint64_t seed) { return {.checked = true, .order_seed = seed, .threads = 0}; }

void test_results_do_not_depend_on_the_order(const Fixture& fixture) {
    for (const unsigned kernel : {0U, 1U, 2U, 3U}) {
        const Plan plan = one_dispatch(kernel, 37 * 29, {37, 29, 1}, {16, 16, 1});
        const auto expected = fixture.run(plan);
        for (std::uint64_t seed = 0; seed < 4; ++seed) CHECK(fixture.run(plan, with_seed(seed)) == expected);
    }
}

void test_a_race_shows(const Fixture& fixture) {
    const Plan plan = one_dispatch(8, 1, {64, 1, 1}, {64, 1, 1});
    std::set<std::uint32_t> winners;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const std::uint32_t winner = fixture.run(plan, with_seed(seed))[0];
        CHECK_EQUAL(winner, fixture.run(plan, with_seed(seed))[0]);
        winners.insert(winner);
    }
    CHECK(winners.size() > 1);
}

void test_threadgroup_memory_is_poisoned(const Fixture& fixture) {
    const Plan plan = one_dispatch(9, 64, {64, 1, 1}, {1, 1, 1});
    const auto first = fixture.run(plan, with_seed(1));
    for (const std::uint32_t word : first) {
        float value;
        std::memcpy(&value, &word, sizeof value);
        CHECK(std::isnan(value));
    }
    CHECK(first != fixture.run(plan, with_seed(2)));
}

void test_poisoned_output(const Fixture& fixture) {
    const auto execution = fixture.prepare(one_dispatch(10, 3, {1, 1, 1}, {1, 1, 1}));
    execution->reset();
    execution->run(1);
    CHECK(words_of(*execution, 0) == std::vector<std::uint32_t>(3, UINT32_MAX));
}

// One word too few: within the page, where no guard can be, the margin tells.
void test_damaged_margin(const Fixture& fixture) {
    for (const std::uint64_t seed : {0U, 1U}) {
        const auto execution = fixture.prepare(one_dispatch(0, 101, {102, 1, 1}, {32, 1, 1}), with_seed(seed));
        execution->reset();
        CHECK_THROWS(ExecutionError, "kernel 'k0' (dispatch 0) wrote just outside of buffer 'out', which has 404 bytes",
                     execution->run(1));
    }
}

}  // namespace

int main(int, char** argv) {
    const Fixture fixture(argv[1], 2);
    test_results_do_not_depend_on_the_order(fixture);
    test_a_race_shows(fixture);
    test_threadgroup_memory_is_poisoned(fixture);
    test_poisoned_output(fixture);
    test_damaged_margin(fixture);
    return outcome();
}
