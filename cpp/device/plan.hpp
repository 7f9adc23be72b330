// A plan is data: which buffers exist, what they hold at first, which kernels run over them and how.
// It is what a task declares, what crosses into the worker, and all that a device needs to know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace kfp {

enum class BufferRole : std::uint8_t {
    input,    // has initial content; the contract says that kernels only read it
    state,    // has initial content, is written, is reset before every measured run, and may be read back
    output,   // poisoned before a run, read back after it
    scratch,  // poisoned before a run, never read back
};

struct BufferSpec {
    std::string name;  // the task's own word for it, used in diagnostics
    std::uint64_t bytes = 0;
    BufferRole role = BufferRole::input;
    // Where the initial content starts in the plan's contents region; meaningless for output and scratch.
    std::uint64_t contents_offset = 0;
};

struct BufferBinding {
    std::uint32_t buffer = 0;  // index into Plan::buffers
    std::uint64_t offset = 0;  // bytes
};
struct BytesBinding {
    std::vector<std::byte> bytes;  // at most 4096, as in setBytes
};
struct ThreadgroupBinding {
    std::uint32_t bytes = 0;  // a multiple of 16, as in setThreadgroupMemoryLength
};

struct Binding {
    std::uint32_t index = 0;  // [[buffer(n)]] or [[threadgroup(n)]], 0 to 30
    std::variant<BufferBinding, BytesBinding, ThreadgroupBinding> value;
};

struct Dispatch {
    std::uint32_t kernel = 0;  // index into Plan::kernels
    std::vector<Binding> bindings;
    std::array<std::uint32_t, 3> grid{1, 1, 1};         // threadsPerGrid; may be ragged
    std::array<std::uint32_t, 3> threadgroup{1, 1, 1};  // threadsPerThreadgroup
};

struct Plan {
    std::vector<std::string> kernels;
    std::vector<BufferSpec> buffers;
    std::vector<Dispatch> dispatches;  // in order; each sees what the ones before it wrote
};

// Throws kfp::PlanError naming the faulty element when an index, size or geometry is out of its range.
void validate(const Plan& plan);
// Throws kfp::PlanError unless the buffers of `plan` are, but for their names, those of `other`.
void require_same_buffers(const Plan& plan, const Plan& other);

}  // namespace kfp
