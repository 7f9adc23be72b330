// What the device registry needs of the software device. unavailable.cpp defines the same names where it can't exist.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace kfp::cpu {

// Never throws: a machine without a compiler is described as unavailable, with the reason.
DeviceInfo describe(const Toolchain& toolchain);
// Throws DeviceUnavailable.
std::unique_ptr<Device> open(const Toolchain& toolchain);

}  // namespace kfp::cpu
