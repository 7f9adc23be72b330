// Memory that two processes map: anonymous, of fixed size, gone with its last holder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "worker/descriptor.hpp"

namespace kfp {

enum class Access : std::uint8_t { read, write };

class Mapping {
public:
    Mapping() = default;
    // Maps all `bytes` of `memory`, which need not stay open. Zero bytes are an empty mapping.
    Mapping(int memory, std::size_t bytes, Access access);
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    ~Mapping();

    std::span<std::byte> bytes() const { return {data_, size_}; }

private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

class SharedMemory {
public:
    // Of a size that nobody can change afterwards.
    explicit SharedMemory(std::size_t bytes);

    std::size_t size() const { return size_; }
    Mapping map(Access access) const { return Mapping(memory_.get(), size_, access); }
    // From here on nobody can write to it: no writable mapping may exist when this is called.
    void make_read_only();
    // What to hand to another process.
    int descriptor() const { return memory_.get(); }

private:
    Descriptor memory_;
    Descriptor read_only_;  // a second way in, where the system has no seals
    std::size_t size_ = 0;
};

// The size of the memory behind a descriptor that came from elsewhere.
std::uint64_t shared_memory_size(int descriptor);

}  // namespace kfp
