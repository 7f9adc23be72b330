# The devices: the Metal backend and the software device where they can exist, their plain refusals elsewhere.
set(KFP_DEVICE_SOURCES
  cpp/device/plan.cpp
  cpp/device/registry.cpp
  cpp/device/cuda/not_built.cpp)
set(KFP_DEVICE_LIBRARIES)
set(KFP_DEVICE_DEFINITIONS)
set(KFP_DEVICE_INCLUDES)

if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64|arm64)$")
  list(APPEND KFP_DEVICE_SOURCES
    cpp/device/cpu/cache.cpp
    cpp/device/cpu/context_switch.cpp
    cpp/device/cpu/device.cpp
    cpp/device/cpu/dispatch.cpp
    cpp/device/cpu/division.cpp
    cpp/device/cpu/execution.cpp
    cpp/device/cpu/fault.cpp
    cpp/device/cpu/fibers.cpp
    cpp/device/cpu/host_threads.cpp
    cpp/device/cpu/image.cpp
    cpp/device/cpu/machine.cpp
    cpp/device/cpu/memory.cpp
    cpp/device/cpu/threadgroup_margins.cpp)
else()
  list(APPEND KFP_DEVICE_SOURCES cpp/device/cpu/unavailable.cpp)
endif()

include(cpp/device/metal/sources.cmake)
