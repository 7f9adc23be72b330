#include "device/metal/metal.hpp"

namespace kfp::metal {

DeviceInfo describe() {
    DeviceInfo info;
    info.name = "metal";
    info.reason = "this build has no Metal backend; it needs macOS 14 or later on Apple silicon";
    return info;
}

std::unique_ptr<Device> open() {
    throw DeviceUnavailable("metal: " + describe().reason);
}

}  // namespace kfp::metal
