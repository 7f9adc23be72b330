// The worker's end of the conversation: blocking, since the parent is all that it waits for.
#pragma once

#include <string>
#include <vector>

#include "worker/descriptor.hpp"
#include "worker/protocol.hpp"

namespace kfp {

struct Frame {
    std::uint32_t kind = 0;
    std::string payload;
    std::vector<Descriptor> descriptors;
};

// False when the other side is gone.
bool receive_frame(int channel, Frame& frame);
bool send_frame(int channel, std::uint32_t kind, std::string_view payload);

}  // namespace kfp
