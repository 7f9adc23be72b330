// How a test sets the stand-in up. Read when a device is made, so set it before.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "device/device.hpp"
#include "object.hpp"

namespace standin {

struct Configuration {
    Version macos{14, 0};  // a selector that is newer ends the process
    std::string device_name = "Apple Stand-in";
    bool has_device = true;
    bool stamps = true;  // GPUStartTime and GPUEndTime, as opposed to zeros
    long failing_code = 0;  // MTLCommandBufferError of the next compute pass; 0: none
    std::shared_ptr<kfp::Device> backing;  // compiles and runs the kernels
};

Configuration& configuration();

// What the program has asked for so far.
struct Statistics {
    std::atomic<long> buffers{0};
    std::atomic<long> pipelines{0};
    std::atomic<long> queued{0};  // command buffers that are committed and not completed
    std::atomic<long> most_queued{0};
};

Statistics& statistics();

}  // namespace standin
