// kfp._core, one function per area. The Python side of every name is in python/kfp/_core.pyi.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

namespace kfp {

struct PlanImage;

namespace bindings {

void bind_errors(pybind11::module_& module);
void bind_devices(pybind11::module_& module);
void bind_reports(pybind11::module_& module);
void bind_plan(pybind11::module_& module);
void bind_worker(pybind11::module_& module);

// The Python class kfp._core.Plan.
struct PyPlan {
    std::shared_ptr<const PlanImage> image;
};

}  // namespace bindings
}  // namespace kfp
