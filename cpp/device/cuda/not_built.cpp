#include "device/cuda/cuda.hpp"

namespace kfp::cuda {

DeviceInfo describe() {
    DeviceInfo info;
    info.name = "cuda";
    info.description = "NVIDIA GPU";
    info.reason = "not built: this version of kfp has no CUDA backend";
    return info;
}

std::unique_ptr<Device> open() { throw DeviceUnavailable("cuda: " + describe().reason); }

}  // namespace kfp::cuda
