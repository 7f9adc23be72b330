// Barriers, simdgroup exchanges, ragged grids and atomics against plain loops.
#include <numeric>

#include "check.hpp"
#include "device/image_fixture.hpp"

using namespace kfp;
using namespace kfp::test;

namespace {

// Calls visit(group position, shape of the group, global index of its first thread's coordinates) for every threadgroup.
template <typename Visit>
void for_each_group(cpu::Extent grid, cpu::Extent threadgroup, Visit visit) {
    for (unsigned z = 0; z < grid[2]; z += threadgroup[2]) {
        for (unsigned y = 0; y < grid[1]; y += threadgroup[1]) {
            for (unsigned x = 0; x < grid[0]; x += threadgroup[0]) {
                std::vector<std::uint32_t> members;  // global indices in order of the index in the threadgroup
                for (unsigned k = z; k < std::min(z + threadgroup[2], grid[2]); ++k) {
                    for (unsigned j = y; j < std::min(y + threadgroup[1], grid[1]); ++j) {
                        for (unsigned i = x; i < std::min(x + threadgroup[0], grid[0]); ++i) {
                            members.push_back(i + grid[0] * (j + grid[1] * k));
                        }
                    }
                }
                visit(members);
            }
        }
    }
}

constexpr std::size_t count_of(cpu::Extent grid) { return std::size_t{grid[0]} * grid[1] * grid[2]; }

void test_plain(const Fixture& fixture, cpu::Extent grid, cpu::Extent threadgroup) {
    std::vector<std::uint32_t> expected(count_of(grid));
    std::iota(expected.begin(), expected.end(), 1U);
    CHECK(fixture.run(one_dispatch(0, expected.size(), grid, threadgroup)) == expected);
}

void test_barriers(const Fixture& fixture, cpu::Extent grid, cpu::Extent threadgroup) {
    std::vector<std::uint32_t> expected(count_of(grid));
    for_each_group(grid, threadgroup, [&](const std::vector<std::uint32_t>& members) {
        for (std::size_t i = 0; i < members.size(); ++i) expected[members[i]] = members[(i + 100) % members.size()];
    });
    CHECK(fixture.run(one_dispatch(1, expected.size(), grid, threadgroup)) == expected);
}

void test_early_return(const Fixture& fixture, cpu::Extent grid, cpu::Extent threadgroup) {
    std::vector<std::uint32_t> expected(count_of(grid), UINT32_MAX);
    for_each_group(grid, threadgroup, [&](const std::vector<std::uint32_t>& members) {
        const auto count = static_cast<std::uint32_t>(members.size());
        for (std::uint32_t i = 0; i < count; ++i) {
            if (i % 3 != 0) expected[members[i]] = count * (count - 1) / 2;
        }
    });
    CHECK(fixture.run(one_dispatch(2, expected.size(), grid, threadgroup)) == expected);
}

void test_simd_sums(const Fixture& fixture, cpu::Extent grid, cpu::Extent threadgroup) {
    std::vector<std::uint32_t> expected(count_of(grid));
    for_each_group(grid, threadgroup, [&](const std::vector<std::uint32_t>& members) {
        for (std::size_t first = 0; first < members.size(); first += 32) {
            const std::size_t lanes = std::min<std::size_t>(32, members.size() - first);
            std::vector<std::uint32_t> value(lanes);
            for (std::size_t lane = 0; lane < lanes; ++lane) value[lane] = members[first + lane] % 97;
            for (std::uint32_t round = 0; round < 10; ++round) {
                std::uint32_t sum = 0;
                for (const std::uint32_t each : value) sum += each % 1009 + round;
                for (std::uint32_t lane = 0; lane < lanes; ++lane) value[lane] = sum + lane;
            }
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const std::size_t quad = lane / 4 * 4;
                std::uint32_t& total = expected[members[first + lane]];
                for (std::size_t other = quad; other < std::min(quad + 4, lanes); ++other) total += value[other];
            }
        }
    });
    CHECK(fixture.run(one_dispatch(3, expected.size(), grid, threadgroup)) == expected);
}

void test_divergence(const Fixture& fixture, unsigned threads) {
    std::vector<std::uint32_t> expected(threads, UINT32_MAX);
    for (unsigned i = 0; i < threads; ++i) {
        if (i % 32 == 5) continue;
        const unsigned lanes = std::min(32U, threads - i / 32 * 32);
        const unsigned odd_lanes = lanes / 2 - (lanes > 5 ? 1 : 0);
        expected[i] = (i % 2 == 1 ? odd_lanes * 100 : 0) + lanes - (lanes > 5 ? 1 : 0);
    }
    CHECK(fixture.run(one_dispatch(4, threads, {threads, 1, 1}, {threads, 1, 1})) == expected);
}

void test_atomics(const Fixture& fixture) {
    Plan plan = one_dispatch(5, 1, {100'003, 1, 1}, {64, 1, 1});
    plan.buffers[0].role = BufferRole::state;
    const std::uint32_t start = 7;
    const auto execution = fixture.prepare(plan, {}, std::as_bytes(std::span(&start, 1)));
    for (int again = 0; again < 3; ++again) {
        execution->reset();
        execution->run(2);
        CHECK_EQUAL(words_of(*execution, 0)[0], 7U + 2 * 100'003U);
    }
}

// Each dispatch sees what the one before it wrote, and a run of many allocates nothing that could run out.
void test_many_dispatches(const Fixture& fixture) {
    Plan plan = one_dispatch(5, 1, {512, 1, 1}, {32, 1, 1});
    plan.buffers[0].role = BufferRole::state;
    for (int i = 1; i < 500; ++i) plan.dispatches.push_back(plan.dispatches[0]);
    const std::uint32_t start = 0;
    Progress progress;
    const auto execution = fixture.prepare(plan, {}, std::as_bytes(std::span(&start, 1)), &progress);
    execution->reset();
    const RunTime time = execution->run(3);
    CHECK_EQUAL(words_of(*execution, 0)[0], 3U * 500 * 512);
    CHECK_EQUAL(progress.dispatch, 499U);
    CHECK_EQUAL(progress.running, 0U);
    CHECK(time.end_ticks > time.start_ticks && time.device_seconds > 0);
}

// None is left out where parts are uneven or empty, and none taken twice where threads end their own and help others.
void test_every_threadgroup_runs_once(const Fixture& fixture, unsigned threadgroups, unsigned participants) {
    Plan plan = one_dispatch(5, 1, {threadgroups, 1, 1}, {1, 1, 1});
    plan.buffers[0].role = BufferRole::state;
    for (int i = 1; i < 20; ++i) plan.dispatches.push_back(plan.dispatches[0]);
    const std::uint32_t start = 0;
    RunOptions options;
    options.threads = participants;
    const auto execution = fixture.prepare(plan, options, std::as_bytes(std::span(&start, 1)));
    execution->reset();
    execution->run(1);
    CHECK_EQUAL(words_of(*execution, 0)[0], 20 * threadgroups);
}

void test_limits(const Fixture& fixture) {
    Plan plan = one_dispatch(1, 2048, {2048, 1, 1}, {1025, 1, 1});
    CHECK_THROWS(PipelineError, "threadgroup of 1025 threads; the kernel allows 1024", fixture.prepare(plan));
    plan = one_dispatch(1, 2048, {2048, 1, 1}, {1024, 1, 1});
    plan.dispatches[0].bindings[1].value = ThreadgroupBinding{28688};
    CHECK_THROWS(PipelineError, "32784 bytes of threadgroup memory (4096 of the kernel's own, 28688 of arguments)",
                 fixture.prepare(plan));
    plan.kernels[0] = "absent";
    CHECK_THROWS(PipelineError, "no kernel is called 'absent'; the source has 'k0', 'k1'", fixture.prepare(plan));
    plan = one_dispatch(0, 1, {1, 1, 1}, {1, 1, 1});
    plan.buffers[0].role = BufferRole::input;
    CHECK_THROWS(PlanError, "initial content ends at byte 4 of a contents region of 0", fixture.prepare(plan));
}

}  // namespace

int main(int, char** argv) {
    for (const unsigned host_threads : {1U, 4U}) {
        const Fixture fixture(argv[1], host_threads);
        for (const cpu::Extent grid : {cpu::Extent{1, 1, 1}, {1000, 1, 1}, {37, 29, 1}, {13, 11, 17}, {5000, 3, 2}}) {
            for (const cpu::Extent threadgroup : {cpu::Extent{1, 1, 1}, {32, 1, 1}, {100, 1, 1}, {16, 16, 1}, {5, 3, 7}, {1024, 1, 1}}) {
                test_plain(fixture, grid, threadgroup);
                test_barriers(fixture, grid, threadgroup);
                test_early_return(fixture, grid, threadgroup);
                test_simd_sums(fixture, grid, threadgroup);
            }
        }
        for (const unsigned threads : {4U, 32U, 33U, 70U, 1024U}) test_divergence(fixture, threads);
        test_atomics(fixture);
        test_many_dispatches(fixture);
        test_limits(fixture);
    }
    const Fixture fixture(argv[1], 7);
    for (unsigned threadgroups = 1; threadgroups <= 260; ++threadgroups) {
        for (const unsigned participants : {0U, 1U, 2U, 3U, 7U}) test_every_threadgroup_runs_once(fixture, threadgroups, participants);
    }
    for (const unsigned threadgroups : {4095U, 65'537U}) test_every_threadgroup_runs_once(fixture, threadgroups, 3);
    return outcome();
}
