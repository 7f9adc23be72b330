// Every way in which a plan can be out of its range, and the words that name it.
#include "check.hpp"
#include "device/device.hpp"

using namespace kfp;

namespace {

Plan sound_plan() {
    Plan plan;
    plan.kernels = {"first", "second"};
    plan.buffers = {{"in", 64, BufferRole::input, 0}, {"out", 64, BufferRole::output, 0}};
    BytesBinding bytes;
    bytes.bytes.resize(4096);
    plan.dispatches = {{0, {{0, BufferBinding{0, 0}}, {1, BufferBinding{1, 60}}, {30, bytes}}, {100, 1, 1}, {32, 1, 1}},
                       {1, {{0, ThreadgroupBinding{32}}, {0, BufferBinding{1, 0}}}, {3, 5, 7}, {2, 2, 2}}};
    return plan;
}

template <typename Damage>
void check_refused(Damage damage, const char* words, int line) {
    Plan plan = sound_plan();
    damage(plan);
    test::check_throws<PlanError>([&] { validate(plan); }, words, __FILE__, line);
}

#define CHECK_REFUSED(words, damage) check_refused([]([[maybe_unused]] Plan& plan) { damage; }, words, __LINE__)

}  // namespace

int main() {
    validate(sound_plan());
    validate(Plan{});

    CHECK_REFUSED("kernel 1: has no name", plan.kernels[1].clear());
    CHECK_REFUSED("buffer 1 ('out'): has 0 bytes", plan.buffers[1].bytes = 0);
    CHECK_REFUSED("buffer 0 ('in'): has 1099511627777 bytes", plan.buffers[0].bytes = (std::uint64_t{1} << 40) + 1);
    CHECK_REFUSED("which no contents region can hold", plan.buffers[0].contents_offset = UINT64_MAX - 63);
    CHECK_REFUSED("buffer 0 ('in'): unknown role 9", plan.buffers[0].role = static_cast<BufferRole>(9));
    CHECK_REFUSED("dispatch 1: names kernel number 2; the plan has 2", plan.dispatches[1].kernel = 2);
    CHECK_REFUSED("dispatch 0, grid: (0, 1, 1) has a zero", plan.dispatches[0].grid[0] = 0);
    CHECK_REFUSED("dispatch 1, threadgroup: (2, 0, 2) has a zero", plan.dispatches[1].threadgroup[1] = 0);
    CHECK_REFUSED("dispatch 0, grid: (4294967295, 4294967295, 4294967295) has more than",
                  (plan.dispatches[0].grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX}));
    CHECK_REFUSED("dispatch 0, threadgroup: (65536, 65536, 65536) has more than",
                  (plan.dispatches[0].threadgroup = {65536, 65536, 65536}));
    CHECK_REFUSED("dispatch 0, binding 2: has index 31; the largest is 30", plan.dispatches[0].bindings[2].index = 31);
    CHECK_REFUSED("dispatch 0, binding 1: [[buffer(0)]] is bound twice", plan.dispatches[0].bindings[1].index = 0);
    CHECK_REFUSED("dispatch 0, binding 2: [[buffer(1)]] is bound twice", plan.dispatches[0].bindings[2].index = 1);
    CHECK_REFUSED("binding 0, index 0: names buffer number 2; the plan has 2",
                  (plan.dispatches[0].bindings[0].value = BufferBinding{2, 0}));
    CHECK_REFUSED("starts at byte 64 of 'out', which has 64", (plan.dispatches[0].bindings[1].value = BufferBinding{1, 64}));
    CHECK_REFUSED("starts at byte 6; an offset is a multiple of 4", (plan.dispatches[0].bindings[1].value = BufferBinding{1, 6}));
    CHECK_REFUSED("index 30: has 0 bytes; a bytes binding has 1 to 4096", (plan.dispatches[0].bindings[2].value = BytesBinding{}));
    CHECK_REFUSED("has 4097 bytes; a bytes binding",
                  std::get<BytesBinding>(plan.dispatches[0].bindings[2].value).bytes.resize(4097));
    CHECK_REFUSED("has 24 bytes; a threadgroup length is a positive multiple of 16",
                  (plan.dispatches[1].bindings[0].value = ThreadgroupBinding{24}));
    CHECK_REFUSED("has 0 bytes; a threadgroup length", (plan.dispatches[1].bindings[0].value = ThreadgroupBinding{0}));
    return test::outcome();
}
