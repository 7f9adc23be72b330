#include "device/metal/availability.hpp"

#include "device/metal/metal_cpp.hpp"

namespace kfp::metal {

bool at_least(Version version) {
    const NS::OperatingSystemVersion wanted{version.major, version.minor, 0};
    return NS::ProcessInfo::processInfo()->isOperatingSystemAtLeastVersion(wanted);
}

}  // namespace kfp::metal
