#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/bindings.hpp"
#include "device/device.hpp"

namespace py = pybind11;

namespace kfp::bindings {

void bind_devices(py::module_& module) {
    py::class_<Toolchain>(module, "Toolchain")
        .def(py::init([](std::string clang, bool clang_is_zig, std::string msl_include, std::string cache,
                         std::string sandbox, bool lld_only) {
                 return Toolchain{std::move(clang), clang_is_zig, std::move(msl_include), std::move(cache),
                                  std::move(sandbox), lld_only};
             }),
             py::kw_only(), py::arg("clang"), py::arg("clang_is_zig"), py::arg("msl_include"), py::arg("cache"),
             py::arg("sandbox"), py::arg("lld_only") = false)
        .def_readwrite("clang", &Toolchain::clang)
        .def_readwrite("clang_is_zig", &Toolchain::clang_is_zig)
        .def_readwrite("msl_include", &Toolchain::msl_include)
        .def_readwrite("cache", &Toolchain::cache)
        .def_readwrite("sandbox", &Toolchain::sandbox)
        .def_readwrite("lld_only", &Toolchain::lld_only);
    py::class_<DeviceInfo>(module, "DeviceInfo")
        .def_readonly("name", &DeviceInfo::name)
        .def_readonly("description", &DeviceInfo::description)
        .def_readonly("driver", &DeviceInfo::driver)
        .def_readonly("available", &DeviceInfo::available)
        .def_readonly("reason", &DeviceInfo::reason)
        .def_readonly("is_virtual", &DeviceInfo::is_virtual)
        .def_readonly("tick_seconds", &DeviceInfo::tick_seconds)
        .def_readonly("max_threads_per_threadgroup", &DeviceInfo::max_threads_per_threadgroup)
        .def_readonly("thread_execution_width", &DeviceInfo::thread_execution_width)
        .def_readonly("max_threadgroup_memory_length", &DeviceInfo::max_threadgroup_memory_length);
    module.def("list_devices", &list_devices, py::arg("toolchain"), py::call_guard<py::gil_scoped_release>());
}

}  // namespace kfp::bindings
