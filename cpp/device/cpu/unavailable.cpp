#include "device/cpu/cpu.hpp"

namespace kfp::cpu {

DeviceInfo describe(const Toolchain&) {
    DeviceInfo info;
    info.name = "cpu";
    info.description = "software device";
    info.reason = "not built: the software device exists on Linux (x86-64 and arm64) only";
    return info;
}

std::unique_ptr<Device> open(const Toolchain& toolchain) {
    throw DeviceUnavailable("cpu: " + describe(toolchain).reason);
}

}  // namespace kfp::cpu
