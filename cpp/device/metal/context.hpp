// What a device shares with its libraries and their executions, and with nobody else.
#pragma once

#include <cstdint>

#include "device/device.hpp"
#include "device/metal/metal_cpp.hpp"

namespace kfp::metal {

struct Context {
    NS::SharedPtr<MTL::Device> device;
    NS::SharedPtr<MTL::CommandQueue> queue;
    DeviceInfo info;
    MTL::Size max_threads_per_threadgroup{1024, 1024, 1024};  // along each axis
    std::uint64_t max_buffer_length = 0;                      // bytes
};

}  // namespace kfp::metal
