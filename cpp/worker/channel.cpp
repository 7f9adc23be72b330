#include "worker/channel.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace kfp {
namespace {

bool receive_all(int channel, char* data, std::size_t size) {
    while (size > 0) {
        const auto got = ::recv(channel, data, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        data += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

// Descriptors ride on the first byte of the header.
bool receive_header(int channel, FrameHeader& header, std::vector<Descriptor>& descriptors) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(max_frame_descriptors * sizeof(int))> control{};
    iovec part{&header, sizeof header};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got;
    do {
        got = ::recvmsg(channel, &message, 0);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return false;
    for (cmsghdr* part_of = CMSG_FIRSTHDR(&message); part_of != nullptr; part_of = CMSG_NXTHDR(&message, part_of)) {
        if (part_of->cmsg_level != SOL_SOCKET || part_of->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part_of->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(part_of) + i * sizeof(int), sizeof(int));
            descriptors.emplace_back(fd);
        }
    }
    const auto size = static_cast<std::size_t>(got);
    return receive_all(channel, reinterpret_cast<char*>(&header) + size, sizeof header - size);
}

}  // namespace

bool receive_frame(int channel, Frame& frame) {
    FrameHeader header;
    frame.descriptors.clear();
    if (!receive_header(channel, header, frame.descriptors)) return false;
    if (header.magic != frame_magic || header.length > max_request_bytes) return false;
    frame.kind = header.kind;
    frame.payload.resize(static_cast<std::size_t>(header.length));
    return receive_all(channel, frame.payload.data(), frame.payload.size());
}

bool send_frame(int channel, std::uint32_t kind, std::string_view payload) {
    const FrameHeader header{frame_magic, kind, payload.size()};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes += payload;
    std::string_view rest = bytes;
    while (!rest.empty()) {
        const auto sent = ::send(channel, rest.data(), rest.size(), 0);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

}  // namespace kfp
