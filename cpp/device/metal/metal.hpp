// What the device registry needs of the Metal backend. no_metal.cpp defines the same names where there is no Metal.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace kfp::metal {

// Never throws: a machine or build without Metal is described as unavailable, with the reason.
DeviceInfo describe();
// Throws DeviceUnavailable.
std::unique_ptr<Device> open();

}  // namespace kfp::metal
