// Maps a compiled image into this process. Our own loader rather than dlopen: it takes the file from memory, runs no
// constructors, resolves nothing against this process, and refuses whatever the front end never makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "device/cpu/memory.hpp"

namespace kfp::cpu {

class Image {
public:
    // `file` is an ELF shared object. Throws kfp::ExecutionError that says what is wrong with it.
    explicit Image(std::span<const std::byte> file);

    // nullptr where the image exports no such symbol.
    void* symbol(const std::string& name) const;
    // Stores `value` in the exported pointer `name`, then makes everything but the code read-only for good.
    void seal_with_pointer(const std::string& name, const void* value);
    bool contains(const void* address) const { return mapping_.contains(address); }

private:
    struct Segment {
        std::byte* begin;
        std::size_t bytes;
        bool executable;
    };

    Mapping mapping_;
    std::vector<Segment> segments_;
    std::unordered_map<std::string, std::byte*> symbols_;
};

}  // namespace kfp::cpu
