set(KFP_BINDING_SOURCES
  cpp/bindings/devices.cpp
  cpp/bindings/errors.cpp
  cpp/bindings/module.cpp
  cpp/bindings/plan.cpp
  cpp/bindings/reports.cpp
  cpp/bindings/worker.cpp
)
