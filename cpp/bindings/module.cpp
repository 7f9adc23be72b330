#include "bindings/bindings.hpp"

PYBIND11_MODULE(_core, module) {
    module.doc() = "The native core: devices, the worker process, compile reports.";
    module.attr("__version__") = KFP_VERSION;
    kfp::bindings::bind_errors(module);
    kfp::bindings::bind_devices(module);
    kfp::bindings::bind_reports(module);
    kfp::bindings::bind_plan(module);
    kfp::bindings::bind_worker(module);
}
