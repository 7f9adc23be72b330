#include "device/cpu/cpu.hpp"
#include "device/cuda/cuda.hpp"
#include "device/device.hpp"
#include "device/metal/metal.hpp"

namespace kfp {

Intermediate Device::intermediate(std::string_view, const CompileOptions&) {
    throw DeviceUnavailable(info().name + ": what its compiler makes of a kernel is not to be seen");
}

std::vector<DeviceInfo> list_devices(const Toolchain& toolchain) {
    return {metal::describe(), cuda::describe(), cpu::describe(toolchain)};
}

std::unique_ptr<Device> open_device(std::string_view name, const Toolchain& toolchain) {
    if (name == "metal") return metal::open();
    if (name == "cuda") return cuda::open();
    if (name == "cpu") return cpu::open(toolchain);
    throw DeviceUnavailable("no device is called '" + std::string(name) + "'; there are metal, cuda and cpu");
}

}  // namespace kfp
