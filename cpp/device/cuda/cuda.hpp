// What the device registry needs of the CUDA backend.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace kfp::cuda {

DeviceInfo describe();
// Throws DeviceUnavailable.
std::unique_ptr<Device> open();

}  // namespace kfp::cuda
