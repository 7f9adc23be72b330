#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/bindings.hpp"
#include "device/device.hpp"
#include "worker/host.hpp"

namespace py = pybind11;

namespace kfp::bindings {
namespace {

const char* name_of(Severity severity) {
    switch (severity) {
        case Severity::note: return "note";
        case Severity::warning: return "warning";
        case Severity::error: break;
    }
    return "error";
}

const char* name_of(ParameterKind kind) {
    switch (kind) {
        case ParameterKind::buffer: return "buffer";
        case ParameterKind::threadgroup: return "threadgroup";
        case ParameterKind::input: return "input";
        case ParameterKind::texture: return "texture";
        case ParameterKind::sampler: return "sampler";
        case ParameterKind::other: break;
    }
    return "other";
}

py::list tokens_of(const Intermediate& self) {
    py::list tokens;
    for (const auto& [line, column, origin, text] : self.map.tokens) tokens.append(py::make_tuple(text, line, column, origin));
    return tokens;
}

py::list origins_of(const Intermediate& self) {
    py::list origins;
    for (const auto& [macro, line, column, parent] : self.map.origins) {
        origins.append(py::make_tuple(macro, line, column, parent));
    }
    return origins;
}

py::object token_or_none(std::uint32_t token) {
    return token == SourceMap::nowhere ? py::object(py::none()) : py::object(py::int_(token));
}

py::list lines_of(const Intermediate& self) {
    py::list lines;
    for (const std::uint32_t token : self.map.lines) lines.append(token_or_none(token));
    return lines;
}

py::list arrays_of(const Intermediate& self) {
    py::list arrays;
    for (const auto& [token, bytes] : self.threadgroup_arrays) arrays.append(py::make_tuple(token_or_none(token), bytes));
    return arrays;
}

}  // namespace

void bind_reports(py::module_& module) {
    py::class_<Diagnostic>(module, "Diagnostic")
        .def_property_readonly("severity", [](const Diagnostic& self) { return name_of(self.severity); })
        .def_readonly("line", &Diagnostic::line)
        .def_readonly("column", &Diagnostic::column)
        .def_readonly("message", &Diagnostic::message);
    py::class_<Parameter>(module, "Parameter")
        .def_readonly("name", &Parameter::name)
        .def_readonly("type", &Parameter::type)
        .def_property_readonly("kind", [](const Parameter& self) { return name_of(self.kind); })
        .def_readonly("index", &Parameter::index)
        .def_readonly("attribute", &Parameter::attribute);
    py::class_<KernelInfo>(module, "KernelInfo")
        .def_readonly("name", &KernelInfo::name)
        .def_readonly("parameters", &KernelInfo::parameters)
        .def_readonly("max_total_threads_per_threadgroup", &KernelInfo::max_total_threads_per_threadgroup)
        .def_readonly("thread_execution_width", &KernelInfo::thread_execution_width)
        .def_readonly("static_threadgroup_memory_length", &KernelInfo::static_threadgroup_memory_length)
        .def_readonly("pipeline_error", &KernelInfo::pipeline_error);
    py::class_<CompileReport>(module, "CompileReport")
        .def_readonly("compile_ok", &CompileReport::compile_ok)
        .def_readonly("diagnostics", &CompileReport::diagnostics)
        .def_readonly("kernels", &CompileReport::kernels)
        .def_readonly("seconds", &CompileReport::seconds);
    py::class_<Intermediate>(module, "Intermediate")
        .def_readonly("report", &Intermediate::report)
        .def_readonly("program", &Intermediate::program)
        .def_readonly("inlined", &Intermediate::inlined)
        .def_readonly("reason", &Intermediate::reason)
        .def_property_readonly("tokens", &tokens_of)
        .def_property_readonly("origins", &origins_of)
        .def_property_readonly("lines", &lines_of)
        .def_property_readonly("threadgroup_arrays", &arrays_of);
    py::class_<RunReport>(module, "RunReport")
        .def_readonly("device_seconds", &RunReport::device_seconds)
        .def_readonly("wall_seconds", &RunReport::wall_seconds,
                      "What the parent's own clock saw between request and reply: an upper bound that no candidate can "
                      "touch.");
    py::class_<SampleReport, RunReport>(module, "SampleReport")
        .def_property_readonly("warm_up",
                               [](const SampleReport& self) {
                                   return py::array_t<double>(static_cast<py::ssize_t>(self.warm_up.size()),
                                                              self.warm_up.data());
                               },
                               "Medians of the sentinel's windows; empty where the device was still warm.");
}

}  // namespace kfp::bindings
