// Pages from the system, and the buffers of a plan laid out in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "device/cpu/sanitizer.hpp"
#include "device/plan.hpp"

namespace kfp::cpu {

std::size_t page_size();
std::size_t round_up(std::size_t bytes, std::size_t alignment);

// A range of address space, inaccessible at first and without a claim on memory.
class Mapping {
public:
    Mapping() = default;
    explicit Mapping(std::size_t bytes);  // throws std::bad_alloc
    ~Mapping();
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;

    std::byte* begin() const { return begin_; }
    std::byte* end() const { return begin_ + bytes_; }
    bool contains(const void* address) const { return address >= begin_ && address < end(); }

    // Whole pages; throws std::bad_alloc where the system refuses.
    void make_writable(std::byte* from, std::size_t bytes) {
        protect(from, bytes, Protection::writable);
        forget_marks(from, bytes);
    }
    void make_read_only(std::byte* from, std::size_t bytes) { protect(from, bytes, Protection::read_only); }
    void make_executable(std::byte* from, std::size_t bytes);
    void make_inaccessible(std::byte* from, std::size_t bytes) { protect(from, bytes, Protection::none); }

private:
    enum class Protection { none, read_only, writable, executable };
    void protect(std::byte* from, std::size_t bytes, Protection protection);

    std::byte* begin_ = nullptr;
    std::size_t bytes_ = 0;
};

enum class BufferLayout : std::uint8_t {
    spacious,       // zeros on both sides, then far guards: a small over-read does no more harm than on a GPU
    guarded_end,    // the last byte is the last of its page (as near as the base's alignment lets it)
    guarded_start,  // the first byte is the first of its page
};

// A block of memory and the zone of address space around it in which a stray access is put down to it.
struct PlacedBlock {
    static constexpr std::uint32_t not_a_buffer = UINT32_MAX;

    std::byte* base = nullptr;
    std::size_t bytes = 0;
    std::byte* accessible_begin = nullptr;
    std::byte* accessible_end = nullptr;
    std::byte* zone_begin = nullptr;
    std::byte* zone_end = nullptr;
    std::uint32_t buffer = not_a_buffer;  // index into Plan::buffers; otherwise the content of a bytes binding
};

class BufferStore {
public:
    // With `shared` the plan's buffers are those of another store, which has the same ones; constants are its own.
    BufferStore(const Plan& plan, BufferLayout layout, std::shared_ptr<const BufferStore> shared = nullptr);

    std::span<std::byte> buffer(std::uint32_t index) const { return {blocks_[index].base, blocks_[index].bytes}; }
    // Where the bytes binding number `binding` of dispatch number `dispatch` lies.
    std::byte* bytes_binding(std::size_t dispatch, std::size_t binding) const { return bytes_[dispatch][binding]; }

    // Only reads what the constructor laid out, so that a signal handler may ask.
    const PlacedBlock* zone_of(const void* address) const;

    // Puts zeros (spacious) or poison (guarded) between the buffers' ends and their guards.
    void clear_margins() const;
    // The first buffer around which a byte of the margin has changed since clear_margins(), or nullptr. Guarded layouts.
    const PlacedBlock* damaged_margin() const;

private:
    void reserve(const std::vector<std::size_t>& block_bytes, std::size_t buffers);
    void fill_bytes_bindings(const Plan& plan, const std::vector<std::vector<std::size_t>>& offsets);

    BufferLayout layout_;
    std::shared_ptr<const BufferStore> shared_;
    Mapping mapping_;
    std::vector<PlacedBlock> blocks_;  // the plan's buffers in order, then blocks of bytes bindings
    std::vector<std::vector<std::byte*>> bytes_;
};

}  // namespace kfp::cpu
