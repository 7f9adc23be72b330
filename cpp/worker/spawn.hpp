// Starting a worker process from a parent of any size, without copying its page tables.
#pragma once

#include <string>

#include "worker/descriptor.hpp"

namespace kfp {

struct Spawned {
    int pid = -1;
    Descriptor channel;  // our end of the socket, non-blocking
    Descriptor errors;   // the read end of its stderr, non-blocking
};

// In a process group of its own, with a scrubbed environment and no descriptor but the channel and the standard three.
// Throws kfp::DeviceUnavailable naming what is missing.
Spawned spawn_worker(const std::string& executable);

}  // namespace kfp
