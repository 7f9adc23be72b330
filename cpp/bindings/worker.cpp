#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstring>

#include "bindings/bindings.hpp"
#include "worker/host.hpp"

namespace py = pybind11;

namespace kfp::bindings {
namespace {

// Called without the GIL; lets Ctrl-C end a wait.
void check_signals() {
    const py::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

std::unique_ptr<WorkerHost> make_worker(const std::string& device, const Toolchain& toolchain, const WorkerLimits& limits) {
    const py::gil_scoped_release released;
    return std::make_unique<WorkerHost>(device, toolchain, limits, check_signals);
}

Math math_named(const std::string& name) {
    if (name == "fast") return Math::fast;
    if (name == "precise") return Math::precise;
    throw py::value_error("math: '" + name + "' isn't one of fast, precise");
}

std::pair<std::uint32_t, CompileReport> compile(WorkerHost& worker, const py::object& source, const std::string& math,
                                                bool checked, bool check_only, const std::string& counting,
                                                std::uint32_t counters) {
    CompileOptions options;
    options.math = math_named(math);
    options.checked = checked;
    options.check_only = check_only;
    options.counting = counting;
    options.counters = counters;
    const auto text = source.cast<std::string>();
    const py::gil_scoped_release released;
    return worker.compile(text, options);
}

Intermediate intermediate(WorkerHost& worker, const py::object& source, const std::string& math, bool checked) {
    CompileOptions options;
    options.math = math_named(math);
    options.checked = checked;
    const auto text = source.cast<std::string>();
    const py::gil_scoped_release released;
    return worker.intermediate(text, options);
}

py::array_t<std::uint64_t> take_counts(WorkerHost& worker, std::uint32_t library) {
    std::vector<std::uint64_t> counts;
    {
        const py::gil_scoped_release released;
        counts = worker.take_counts(library);
    }
    return py::array_t<std::uint64_t>(static_cast<py::ssize_t>(counts.size()), counts.data());
}

std::uint32_t prepare(WorkerHost& worker, std::uint32_t library, const PyPlan& plan, bool checked, std::uint64_t order_seed,
                      std::uint32_t threads, bool cold, std::optional<std::uint32_t> shares) {
    auto image = plan.image;
    RunOptions options;
    options.checked = checked;
    options.order_seed = order_seed;
    options.threads = threads;
    options.cold = cold;
    const py::gil_scoped_release released;
    return worker.prepare(library, std::move(image), options, shares);
}

constexpr const char* not_numbers = "sample: expected whole numbers from 0, a sequence or an array of them";

// A list or tuple is read in place: making an array of it first costs more than all the rest of a call.
std::vector<std::uint32_t> listed(const py::object& numbers) {
    if (PyList_Check(numbers.ptr()) || PyTuple_Check(numbers.ptr())) {
        const py::sequence items = py::reinterpret_borrow<py::sequence>(numbers);
        std::vector<std::uint32_t> values;
        values.reserve(items.size());
        py::detail::make_caster<std::uint32_t> number;
        for (const py::handle item : items) {
            if (!number.load(item, true)) throw py::type_error(std::string(not_numbers) + ", got " + std::string(py::repr(item)));
            values.push_back(py::detail::cast_op<std::uint32_t>(number));
        }
        return values;
    }
    using Array = py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>;
    const bool whole = py::isinstance<py::array>(numbers) && std::strchr("iu", py::array(numbers).dtype().kind()) != nullptr;
    if (!whole) throw py::type_error(std::string(not_numbers) + ", got " + std::string(py::repr(numbers)));
    const auto array = Array::ensure(numbers);
    return {array.data(), array.data() + array.size()};
}

std::vector<SampleRequest::Arm> arms_of(const py::object& executions, const py::object& repeats) {
    const std::vector<std::uint32_t> numbers = listed(executions);
    const bool one_for_all = PyLong_Check(repeats.ptr());
    const auto each = one_for_all ? std::vector(numbers.size(), repeats.cast<std::uint32_t>()) : listed(repeats);
    if (each.size() != numbers.size()) throw py::value_error("sample: expected a number of repeats per execution");
    std::vector<SampleRequest::Arm> arms;
    for (std::size_t i = 0; i < numbers.size(); ++i) arms.push_back({numbers[i], each[i]});
    return arms;
}

py::tuple sample(WorkerHost& worker, const py::object& executions, const py::object& order, const py::object& repeats,
                 bool each_from_reset, std::optional<std::uint32_t> sentinel, std::uint32_t samples_per_window,
                 double agreement, double most_seconds, double idle_seconds) {
    const SampleRequest request{arms_of(executions, repeats), listed(order), each_from_reset, sentinel,
                                {samples_per_window, agreement, most_seconds, idle_seconds}};
    SampleReport report;
    {
        const py::gil_scoped_release released;
        report = worker.sample(request);
    }
    py::array_t<double> seconds(static_cast<py::ssize_t>(report.seconds.size()), report.seconds.data());
    return py::make_tuple(std::move(seconds), std::move(report));
}

py::array_t<std::uint8_t> read(WorkerHost& worker, std::uint32_t execution, std::uint32_t buffer) {
    py::array_t<std::uint8_t> content(static_cast<py::ssize_t>(worker.buffer_bytes(execution, buffer)));
    const std::span<std::byte> into(reinterpret_cast<std::byte*>(content.mutable_data()),
                                    static_cast<std::size_t>(content.size()));
    const py::gil_scoped_release released;
    worker.read(execution, buffer, into);
    return content;
}

}  // namespace

void bind_worker(py::module_& module) {
    py::class_<WorkerLimits>(module, "Limits")
        .def(py::init([](double compile_seconds, double run_seconds, std::uint64_t compile_memory_bytes,
                         std::uint64_t memory_bytes, std::uint64_t output_bytes) {
                 if (!(compile_seconds > 0.0 && run_seconds > 0.0 && compile_seconds < 1e6 && run_seconds < 1e6))
                     throw py::value_error("Limits: seconds must be above 0 and below 1,000,000");
                 return WorkerLimits{compile_seconds, run_seconds, compile_memory_bytes, memory_bytes, output_bytes};
             }),
             py::kw_only(), py::arg("compile_seconds") = WorkerLimits{}.compile_seconds,
             py::arg("run_seconds") = WorkerLimits{}.run_seconds,
             py::arg("compile_memory_bytes") = WorkerLimits{}.compile_memory_bytes,
             py::arg("memory_bytes") = WorkerLimits{}.memory_bytes, py::arg("output_bytes") = WorkerLimits{}.output_bytes)
        .def_readonly("compile_seconds", &WorkerLimits::compile_seconds)
        .def_readonly("run_seconds", &WorkerLimits::run_seconds)
        .def_readonly("compile_memory_bytes", &WorkerLimits::compile_memory_bytes)
        .def_readonly("memory_bytes", &WorkerLimits::memory_bytes)
        .def_readonly("output_bytes", &WorkerLimits::output_bytes);
    py::class_<WorkerHost>(module, "Worker")
        .def(py::init(&make_worker), py::arg("device"), py::arg("toolchain"), py::arg("limits"))
        .def_property_readonly("pid", &WorkerHost::pid)
        .def_property_readonly("closed", &WorkerHost::closed)
        .def("compile", &compile, py::arg("source"), py::kw_only(), py::arg("math") = "fast", py::arg("checked") = false,
             py::arg("check_only") = false, py::arg("counting") = "", py::arg("counters") = 0)
        .def("intermediate", &intermediate, py::arg("source"), py::kw_only(), py::arg("math") = "fast",
             py::arg("checked") = true)
        .def("take_counts", &take_counts, py::arg("library"))
        .def("prepare", &prepare, py::arg("library"), py::arg("plan"), py::kw_only(), py::arg("checked") = false,
             py::arg("order_seed") = 0, py::arg("threads") = 0, py::arg("cold") = false, py::arg("shares") = py::none())
        .def("run", &WorkerHost::run, py::arg("execution"), py::kw_only(), py::arg("reset") = true,
             py::call_guard<py::gil_scoped_release>())
        .def("sample", &sample, py::arg("executions"), py::arg("order"), py::arg("repeats"), py::kw_only(),
             py::arg("each_from_reset") = false, py::arg("sentinel") = py::none(),
             py::arg("samples_per_window") = timing::WarmUp{}.samples_per_window,
             py::arg("agreement") = timing::WarmUp{}.agreement, py::arg("most_seconds") = timing::WarmUp{}.most_seconds,
             py::arg("idle_seconds") = timing::WarmUp{}.idle_seconds)
        .def("read", &read, py::arg("execution"), py::arg("buffer"))
        .def("close", &WorkerHost::close, py::call_guard<py::gil_scoped_release>())
        .def("__enter__", [](py::object self) { return self; })
        .def("__exit__", [](WorkerHost& self, const py::args&) {
            const py::gil_scoped_release released;
            self.close();
        });
}

}  // namespace kfp::bindings
