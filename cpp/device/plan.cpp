#include "device/plan.hpp"

#include <string_view>

#include "device/device.hpp"

namespace kfp {
namespace {

constexpr std::uint32_t max_binding_index = 30;
constexpr std::size_t max_bytes_binding = 4096;
constexpr std::uint64_t max_buffer_bytes = std::uint64_t{1} << 40;
constexpr std::uint64_t max_grid_threads = std::uint64_t{1} << 40;
constexpr std::uint64_t max_threadgroup_threads = std::uint64_t{1} << 31;
constexpr std::uint64_t buffer_offset_alignment = 4;
constexpr std::uint32_t threadgroup_length_alignment = 16;

[[noreturn]] void fail(const std::string& where, const std::string& what) { throw PlanError("plan: " + where + ": " + what); }

std::string text(std::uint64_t number) { return std::to_string(number); }

std::string text(const std::array<std::uint32_t, 3>& extent) {
    return "(" + text(extent[0]) + ", " + text(extent[1]) + ", " + text(extent[2]) + ")";
}

// Saturates at `limit` + 1, so that three 32-bit factors can't overflow.
std::uint64_t bounded_product(const std::array<std::uint32_t, 3>& extent, std::uint64_t limit) {
    std::uint64_t product = extent[0];
    for (std::size_t axis = 1; axis < 3; ++axis) {
        if (extent[axis] != 0 && product > limit / extent[axis]) return limit + 1;
        product *= extent[axis];
    }
    return product;
}

void validate_extent(const std::array<std::uint32_t, 3>& extent, std::uint64_t limit, const std::string& where) {
    for (const std::uint32_t length : extent) {
        if (length == 0) fail(where, text(extent) + " has a zero; every length is at least 1");
    }
    if (bounded_product(extent, limit) > limit) fail(where, text(extent) + " has more than " + text(limit) + " threads");
}

void validate_buffer(const BufferSpec& buffer, const std::string& where) {
    if (buffer.bytes == 0) fail(where, "has 0 bytes; a buffer has at least 1");
    if (buffer.bytes > max_buffer_bytes) {
        fail(where, "has " + text(buffer.bytes) + " bytes; the most is " + text(max_buffer_bytes));
    }
    const bool has_contents = buffer.role == BufferRole::input || buffer.role == BufferRole::state;
    if (has_contents && buffer.contents_offset > UINT64_MAX - buffer.bytes) {
        fail(where, "its initial content starts at " + text(buffer.contents_offset) + ", which no contents region can hold");
    }
    if (buffer.role > BufferRole::scratch) fail(where, "unknown role " + text(static_cast<std::uint64_t>(buffer.role)));
}

class BindingValidator {
public:
    BindingValidator(const Plan& plan, const Binding& binding, std::string where)
        : plan_(plan), index_(binding.index), where_(std::move(where)) {}

    std::string_view operator()(const BufferBinding& bound) const {
        if (bound.buffer >= plan_.buffers.size()) {
            fail(where(), "names buffer number " + text(bound.buffer) + "; the plan has " + text(plan_.buffers.size()));
        }
        const BufferSpec& buffer = plan_.buffers[bound.buffer];
        if (bound.offset >= buffer.bytes) {
            fail(where(), "starts at byte " + text(bound.offset) + " of '" + buffer.name + "', which has " +
                              text(buffer.bytes));
        }
        if (bound.offset % buffer_offset_alignment != 0) {
            fail(where(), "starts at byte " + text(bound.offset) + "; an offset is a multiple of " +
                              text(buffer_offset_alignment));
        }
        return "buffer";
    }

    std::string_view operator()(const BytesBinding& bound) const {
        if (bound.bytes.empty() || bound.bytes.size() > max_bytes_binding) {
            fail(where(), "has " + text(bound.bytes.size()) + " bytes; a bytes binding has 1 to " + text(max_bytes_binding));
        }
        return "buffer";
    }

    std::string_view operator()(const ThreadgroupBinding& bound) const {
        if (bound.bytes == 0 || bound.bytes % threadgroup_length_alignment != 0) {
            fail(where(), "has " + text(bound.bytes) + " bytes; a threadgroup length is a positive multiple of " +
                              text(threadgroup_length_alignment));
        }
        return "threadgroup";
    }

private:
    std::string where() const { return where_ + ", index " + text(index_); }

    const Plan& plan_;
    std::uint32_t index_;
    std::string where_;
};

void validate_bindings(const Plan& plan, const Dispatch& dispatch, const std::string& where) {
    std::uint32_t buffers_seen = 0;
    std::uint32_t threadgroups_seen = 0;
    for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
        const Binding& binding = dispatch.bindings[i];
        const std::string here = where + ", binding " + text(i);
        if (binding.index > max_binding_index) {
            fail(here, "has index " + text(binding.index) + "; the largest is " + text(max_binding_index));
        }
        const std::string_view space = std::visit(BindingValidator(plan, binding, here), binding.value);
        std::uint32_t& seen = space == "buffer" ? buffers_seen : threadgroups_seen;
        const std::uint32_t bit = std::uint32_t{1} << binding.index;
        if ((seen & bit) != 0) {
            fail(here, "[[" + std::string(space) + "(" + text(binding.index) + ")]] is bound twice");
        }
        seen |= bit;
    }
}

}  // namespace

void validate(const Plan& plan) {
    for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
        if (plan.kernels[i].empty()) fail("kernel " + text(i), "has no name");
    }
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        validate_buffer(plan.buffers[i], "buffer " + text(i) + " ('" + plan.buffers[i].name + "')");
    }
    for (std::size_t i = 0; i < plan.dispatches.size(); ++i) {
        const Dispatch& dispatch = plan.dispatches[i];
        const std::string where = "dispatch " + text(i);
        if (dispatch.kernel >= plan.kernels.size()) {
            fail(where, "names kernel number " + text(dispatch.kernel) + "; the plan has " + text(plan.kernels.size()));
        }
        validate_extent(dispatch.grid, max_grid_threads, where + ", grid");
        validate_extent(dispatch.threadgroup, max_threadgroup_threads, where + ", threadgroup");
        validate_bindings(plan, dispatch, where);
    }
}

void require_same_buffers(const Plan& plan, const Plan& other) {
    if (plan.buffers.size() != other.buffers.size()) {
        fail("plan", text(plan.buffers.size()) + " buffers can't share memory with " + text(other.buffers.size()));
    }
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const BufferSpec& own = plan.buffers[i];
        const BufferSpec& shared = other.buffers[i];
        if (own.bytes == shared.bytes && own.role == shared.role) continue;
        fail("buffer " + text(i), "can't share memory: '" + own.name + "' has another size or role than '" + shared.name + "'");
    }
}

}  // namespace kfp
