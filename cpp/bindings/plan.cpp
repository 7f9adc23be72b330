#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstring>

#include "bindings/bindings.hpp"
#include "worker/host.hpp"

namespace py = pybind11;

namespace kfp::bindings {
namespace {

constexpr std::uint64_t contents_alignment = 64;

struct Content {
    const void* data = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

// Where in the plan something is; spelled out only when there is something to complain about.
struct Place {
    const char* list;
    std::size_t index;
    const char* part = nullptr;
    std::size_t part_index = no_index;
    std::string_view name = {};

    static constexpr std::size_t no_index = SIZE_MAX;

    [[noreturn]] void fail(const std::string& what) const {
        std::string text = std::string("plan: ") + list + " " + std::to_string(index);
        if (!name.empty()) text += " ('" + std::string(name) + "')";
        if (part != nullptr) text += std::string(", ") + part;
        if (part_index != no_index) text += " " + std::to_string(part_index);
        throw PlanError(text + ": " + what);
    }
};

// Casts one item of a tuple; a wrong type is a PlanError that names the place.
template <typename T>
T cast(py::handle value, const Place& where, const char* what) {
    try {
        return value.cast<T>();
    } catch (const py::cast_error&) {
        where.fail(what + std::string(" can't be ") + std::string(py::repr(value)));
    }
}

py::tuple as_tuple(py::handle value, std::size_t size, const Place& where) {
    auto tuple = py::reinterpret_steal<py::tuple>(PySequence_Tuple(value.ptr()));
    if (!tuple) {
        PyErr_Clear();
        where.fail("expected a tuple, got " + std::string(py::repr(value)));
    }
    if (tuple.size() != size)
        where.fail("expected " + std::to_string(size) + " items, got " + std::to_string(tuple.size()));
    return tuple;
}

BufferRole role_named(const std::string& name, const Place& where) {
    if (name == "input") return BufferRole::input;
    if (name == "state") return BufferRole::state;
    if (name == "output") return BufferRole::output;
    if (name == "scratch") return BufferRole::scratch;
    where.fail("role '" + name + "' isn't one of input, state, output, scratch");
}

BufferSpec read_buffer(py::handle item, const Place& where, std::uint64_t& contents_bytes, std::vector<Content>& contents) {
    const py::tuple parts = as_tuple(item, 4, where);
    BufferSpec buffer;
    buffer.name = cast<std::string>(parts[0], where, "a name");
    Place here = where;
    here.name = buffer.name;
    buffer.bytes = cast<std::uint64_t>(parts[1], here, "a number of bytes");
    buffer.role = role_named(cast<std::string>(parts[2], here, "a role"), here);
    const bool needs_content = buffer.role == BufferRole::input || buffer.role == BufferRole::state;
    if (needs_content == parts[3].is_none())
        here.fail(needs_content ? "needs initial content" : "must not have initial content");
    if (!needs_content) return buffer;
    if (!py::isinstance<py::array>(parts[3])) here.fail("its content must be a numpy array");
    const auto array = py::reinterpret_borrow<py::array>(parts[3]);
    if ((array.flags() & py::array::c_style) == 0) here.fail("its content must be C-contiguous");
    if (static_cast<std::uint64_t>(array.nbytes()) != buffer.bytes)
        here.fail("has " + std::to_string(buffer.bytes) + " bytes but content of " + std::to_string(array.nbytes()));
    buffer.contents_offset = contents_bytes;
    contents.push_back({array.data(), contents_bytes, buffer.bytes});
    contents_bytes += (buffer.bytes + contents_alignment - 1) / contents_alignment * contents_alignment;
    return buffer;
}

Binding read_binding(py::handle item, const Place& where) {
    if (!PySequence_Check(item.ptr()) || PySequence_Size(item.ptr()) < 1)
        where.fail("expected a tuple, got " + std::string(py::repr(item)));
    const py::object first_part = py::reinterpret_borrow<py::sequence>(item)[0];
    const auto kind = cast<std::string_view>(first_part, where, "a kind");
    const py::tuple parts = as_tuple(item, kind == "buffer" ? 4 : 3, where);
    Binding binding;
    binding.index = cast<std::uint32_t>(parts[1], where, "an index");
    if (kind == "buffer") {
        binding.value = BufferBinding{cast<std::uint32_t>(parts[2], where, "a buffer's number"),
                                      cast<std::uint64_t>(parts[3], where, "an offset")};
    } else if (kind == "bytes") {
        const auto raw = cast<std::string_view>(parts[2], where, "bytes");
        const auto* first = reinterpret_cast<const std::byte*>(raw.data());
        binding.value = BytesBinding{{first, first + raw.size()}};
    } else if (kind == "threadgroup") {
        binding.value = ThreadgroupBinding{cast<std::uint32_t>(parts[2], where, "a number of bytes")};
    } else {
        where.fail("kind '" + std::string(kind) + "' isn't one of buffer, bytes, threadgroup");
    }
    return binding;
}

std::array<std::uint32_t, 3> read_extent(py::handle item, const Place& where) {
    const py::tuple parts = as_tuple(item, 3, where);
    std::array<std::uint32_t, 3> extent{};
    for (std::size_t axis = 0; axis < 3; ++axis) extent[axis] = cast<std::uint32_t>(parts[axis], where, "an extent");
    return extent;
}

Dispatch read_dispatch(py::handle item, const Place& where) {
    const py::tuple parts = as_tuple(item, 4, where);
    Dispatch dispatch;
    dispatch.kernel = cast<std::uint32_t>(parts[0], where, "a kernel's number");
    std::size_t index = 0;
    for (const auto binding : cast<py::iterable>(parts[1], where, "the bindings"))
        dispatch.bindings.push_back(read_binding(binding, {where.list, where.index, "binding", index++}));
    dispatch.grid = read_extent(parts[2], {where.list, where.index, "grid"});
    dispatch.threadgroup = read_extent(parts[3], {where.list, where.index, "threadgroup"});
    return dispatch;
}

PyPlan make_plan(const py::sequence& kernels, const py::sequence& buffers, const py::sequence& dispatches) {
    Plan plan;
    std::size_t index = 0;
    for (const auto kernel : kernels)
        plan.kernels.push_back(cast<std::string>(kernel, Place{"kernel", index++}, "a name"));
    std::uint64_t contents_bytes = 0;
    std::uint64_t buffer_bytes = 0;
    std::vector<Content> contents;
    index = 0;
    for (const auto buffer : buffers) {
        plan.buffers.push_back(read_buffer(buffer, {"buffer", index++}, contents_bytes, contents));
        buffer_bytes += plan.buffers.back().bytes;
    }
    index = 0;
    for (const auto dispatch : dispatches) plan.dispatches.push_back(read_dispatch(dispatch, {"dispatch", index++}));
    validate(plan);
    Writer writer;
    encode(writer, plan);
    SharedMemory memory(static_cast<std::size_t>(contents_bytes));
    {
        const py::gil_scoped_release released;
        const Mapping mapping = memory.map(Access::write);
        for (const auto& content : contents) std::memcpy(mapping.bytes().data() + content.offset, content.data, content.bytes);
    }
    memory.make_read_only();
    return {std::make_shared<const PlanImage>(
        PlanImage{std::move(plan), writer.take(), std::move(memory), buffer_bytes})};
}

}  // namespace

void bind_plan(py::module_& module) {
    py::class_<PyPlan>(module, "Plan")
        .def(py::init(&make_plan), py::arg("kernels"), py::arg("buffers"), py::arg("dispatches"));
}

}  // namespace kfp::bindings
