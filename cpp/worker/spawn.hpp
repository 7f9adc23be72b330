// Starting a worker process from a parent of any size, without copying its page tables.
#pragma once

#include <string>

#include "worker/descriptor.hpp"

namespace kfp {

// A folder of a worker's own, for what a compilation leaves behind when its worker is killed in the middle.
class ScratchFolder {
public:
    ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder();
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

struct Spawned {
    int pid = -1;
    Descriptor channel;  // our end of the socket, non-blocking
    Descriptor errors;   // the read end of its stderr, non-blocking
};

// `scratch` is where it keeps temporary files. In a process group of its own, with a scrubbed environment and no descriptor but the channel and the standard three.
// Throws kfp::DeviceUnavailable naming what is missing.
Spawned spawn_worker(const std::string& executable, const std::string& scratch);

}  // namespace kfp
