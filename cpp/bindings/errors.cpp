#include <pybind11/eval.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <system_error>

#include "bindings/bindings.hpp"
#include "worker/host.hpp"

namespace py = pybind11;

namespace kfp::bindings {
namespace {

const char* name_of(Failure kind) {
    switch (kind) {
        case Failure::timeout: return "timeout";
        case Failure::crash: return "crash";
        case Failure::fault: return "fault";
        case Failure::memory: return "memory";
        case Failure::refused: return "refused";
        case Failure::output: return "output";
        case Failure::protocol: return "protocol";
    }
    return "protocol";
}

// Written in Python, since a class with attributes, a message of its own and working pickles is ten lines there.
constexpr const char* worker_failure_source = R"(
class WorkerFailure(Error):
    """The worker died, was stopped, or refused. args == (kind, message, kernel, dispatch)."""

    def __init__(self, kind, message, kernel=None, dispatch=None):
        super().__init__(kind, message, kernel, dispatch)
        self.kind = kind
        self.message = message
        self.kernel = kernel
        self.dispatch = dispatch

    def __str__(self):
        place = "" if self.kernel is None else f" in kernel '{self.kernel}', dispatch {self.dispatch}"
        return f"{self.kind}{place}: {self.message}"
)";

py::object define_worker_failure(const py::object& error) {
    py::dict scope;
    scope["__builtins__"] = py::module_::import("builtins");
    scope["__name__"] = "kfp._core";
    scope["Error"] = error;
    py::exec(worker_failure_source, scope);
    return scope["WorkerFailure"];
}

PYBIND11_CONSTINIT py::gil_safe_call_once_and_store<py::object> worker_failure;

}  // namespace

void bind_errors(py::module_& module) {
    // Later registrations are tried first, so the general comes before the special.
    const auto& general = py::register_local_exception<Error>(module, "Error");
    py::register_local_exception<PlanError>(module, "PlanError", general);
    py::register_local_exception<PipelineError>(module, "PipelineError", general);
    py::register_local_exception<DeviceUnavailable>(module, "DeviceUnavailable", general);
    worker_failure.call_once_and_store_result([&]() { return define_worker_failure(module.attr("Error")); });
    module.attr("WorkerFailure") = worker_failure.get_stored();
    py::register_local_exception_translator([](std::exception_ptr pending) {
        try {
            if (pending) std::rethrow_exception(pending);
        } catch (const WorkerFailure& failure) {
            const py::object& type = worker_failure.get_stored();
            try {
                const py::object raised = type(name_of(failure.kind), failure.what(), failure.kernel, failure.dispatch);
                PyErr_SetObject(type.ptr(), raised.ptr());
            } catch (py::error_already_set& instead) {
                // What a signal's handler raises: pybind11 would drop it for a RuntimeError of the failure.
                instead.restore();
            }
        } catch (const std::system_error& error) {
            PyErr_SetObject(PyExc_OSError, py::make_tuple(error.code().value(), error.what()).ptr());
        }
    });
}

}  // namespace kfp::bindings
