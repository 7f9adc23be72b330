// Two executions over one set of buffers.
#include "../device/image_fixture.hpp"
#include "check.hpp"

namespace {

using namespace kfp;

void the_memory_is_the_same(const test::Fixture& fixture, bool cold) {
    RunOptions options;
    options.cold = cold;
    const Plan plan = test::one_dispatch(0, 64, {64, 1, 1}, {32, 1, 1});
    const auto first = fixture.prepare(plan, options);
    first->reset();
    first->run(1);
    const std::vector<std::uint32_t> written = test::words_of(*first, 0);

    options.shares = first.get();
    const auto second = fixture.prepare(plan, options);
    CHECK(first->contents(0).data() == second->contents(0).data());
    CHECK(test::words_of(*second, 0) == written);
    second->reset();
    CHECK(test::words_of(*first, 0) == std::vector<std::uint32_t>(64, UINT32_MAX));
    second->run(1);
    CHECK(test::words_of(*first, 0) == written);
}

// The sharer outlives nothing: its own constants are its own, and the initial content is the other's.
void initial_contents_are_those_of_the_first(const test::Fixture& fixture) {
    Plan plan = test::one_dispatch(0, 64, {64, 1, 1}, {32, 1, 1});
    plan.buffers.push_back({"given", 256, BufferRole::input, 0});
    const std::vector<std::uint32_t> content(64, 7);
    const auto first = fixture.prepare(plan, {}, std::as_bytes(std::span(content)));
    RunOptions options;
    options.shares = first.get();
    const auto second = fixture.prepare(plan, options);
    second->reset();
    CHECK(test::words_of(*second, 1) == content);
}

void other_buffers_are_refused(const test::Fixture& fixture) {
    const auto first = fixture.prepare(test::one_dispatch(0, 64, {64, 1, 1}, {32, 1, 1}));
    RunOptions options;
    options.shares = first.get();
    CHECK_THROWS(PlanError, "'out' has another size or role than 'out'",
                 fixture.prepare(test::one_dispatch(0, 65, {64, 1, 1}, {32, 1, 1}), options));
    Plan more = test::one_dispatch(0, 64, {64, 1, 1}, {32, 1, 1});
    more.buffers.push_back({"more", 16, BufferRole::scratch, 0});
    CHECK_THROWS(PlanError, "2 buffers can't share memory with 1", fixture.prepare(more, options));
    options.checked = true;
    CHECK_THROWS(PlanError, "checked", fixture.prepare(test::one_dispatch(0, 64, {64, 1, 1}, {32, 1, 1}), options));
}

}  // namespace

int main(int, char** arguments) {
    const test::Fixture fixture(arguments[1], 2);
    the_memory_is_the_same(fixture, false);
    the_memory_is_the_same(fixture, true);
    initial_contents_are_those_of_the_first(fixture);
    other_buffers_are_refused(fixture);
    return test::outcome();
}
