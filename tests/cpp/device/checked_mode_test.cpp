// The checked mode: orders that differ between seeds and not between runs, poison, damaged margins.
#include <algorithm>
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

// A variable that ends with the words of 64 threads, in checked runs and in all others.
void test_an_overrun_threadgroup_variable(const std::string& path) {
    for (const unsigned host_threads : {1U, 2U}) {
        const Fixture fixture(path, host_threads, {{"row", 0, 256, 4096}});
        const Plan fits = one_dispatch(1, 640, {640, 1, 1}, {64, 1, 1});
        const Plan overruns = one_dispatch(1, 650, {650, 1, 1}, {65, 1, 1});
        const std::string text = "wrote just outside of threadgroup variable 'row', which has 256 bytes";
        CHECK_THROWS(ExecutionError, "kernel 'k1' " + text, fixture.run(overruns));
        const auto expected = fixture.run(fits);
        for (const std::uint64_t seed : {0U, 1U}) {
            RunOptions options = with_seed(seed);
            options.threads = host_threads;
            CHECK_THROWS(ExecutionError, "kernel 'k1' (dispatch 0) " + text, fixture.run(overruns, options));
            CHECK(fixture.run(fits, options) == expected);
        }
    }
}

// Of two kernels that run in the same memory the one with the longer variable says how much of it is used.
void test_kernels_share_threadgroup_memory() {
    std::vector<std::byte> bytes(4096);
    std::byte* const memory = bytes.data() + 1024;
    const cpu::ThreadgroupAllocation shorter{"a", 0, 64, 1024};
    const cpu::ThreadgroupAllocation longer{"b", 0, 128, 1024};
    cpu::ThreadgroupMargins margins;
    margins.add("first", {&shorter, 1});
    margins.add("second", {&longer, 1});
    margins.add("second", {&longer, 1});
    margins.fill(memory);
    std::fill_n(memory, 128, std::byte{1});
    CHECK(margins.damaged(memory) == nullptr);
    for (const std::ptrdiff_t at : {-1, 128}) {
        margins.fill(memory);
        memory[at] = std::byte{0};
        const auto* const damaged = margins.damaged(memory);
        CHECK(damaged != nullptr && damaged->longest.name == "b" &&
              damaged->kernels == std::vector<std::string>({"first", "second"}));
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
    test_an_overrun_threadgroup_variable(argv[1]);
    test_kernels_share_threadgroup_memory();
    return outcome();
}
