# The Metal backend: for real on macOS, against the Objective-C stand-in with -DKFP_METAL_STANDIN=ON, absent elsewhere.
option(KFP_METAL_STANDIN "Build the Metal backend on Linux against tests/metal_standin (needs clang)" OFF)

if(APPLE OR KFP_METAL_STANDIN)
  include(${CMAKE_CURRENT_SOURCE_DIR}/cmake/metal_cpp.cmake)
  list(APPEND KFP_DEVICE_SOURCES
    cpp/device/metal/availability.cpp
    cpp/device/metal/buffers.cpp
    cpp/device/metal/diagnostics.cpp
    cpp/device/metal/device.cpp
    cpp/device/metal/execution.cpp
    cpp/device/metal/library.cpp
    cpp/device/metal/metal_cpp.cpp
    cpp/device/metal/pipeline.cpp
    cpp/device/metal/recording.cpp
    cpp/device/metal/reflection.cpp)
  list(APPEND KFP_DEVICE_LIBRARIES kfp_metal_cpp)
else()
  list(APPEND KFP_DEVICE_SOURCES cpp/device/metal/no_metal.cpp)
endif()
