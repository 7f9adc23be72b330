#include "device/cpu/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <string_view>
#include <utility>

namespace kfp::cpu {
namespace {

constexpr std::size_t slack_bytes = std::size_t{64} << 10;
constexpr std::size_t largest_guard = std::size_t{1} << 30;
constexpr std::size_t smallest_guard = std::size_t{1} << 20;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t base_alignment = 16;
// Distance between two bytes bindings that share a block.
constexpr std::size_t bytes_spacing = 64;
// Buffers that all began at the start of a page would compete for the same cache sets: each begins a few lines later.
constexpr std::size_t colour_step = 9 * 64;

constexpr std::byte margin_poison{0xFF};

std::byte* page_floor(std::byte* address) {
    return address - (reinterpret_cast<std::uintptr_t>(address) & (page_size() - 1));
}
std::byte* page_ceiling(std::byte* address) { return page_floor(address + page_size() - 1); }

// Untouched pages cost nothing to clear this way, and none of them becomes resident.
void clear_whole_pages(std::byte* from, std::byte* to) {
    if (from < to && ::madvise(from, static_cast<std::size_t>(to - from), MADV_DONTNEED) != 0) {
        std::memset(from, 0, static_cast<std::size_t>(to - from));
    }
}

bool all_poison(const std::byte* from, const std::byte* to) {
    return std::all_of(from, to, [](std::byte value) { return value == margin_poison; });
}

std::string_view content_of(const BytesBinding& binding) {
    return {reinterpret_cast<const char*>(binding.bytes.data()), binding.bytes.size()};
}

}  // namespace

std::size_t page_size() {
    static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

std::size_t round_up(std::size_t bytes, std::size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

Mapping::Mapping(std::size_t bytes) : bytes_(round_up(bytes, page_size())) {
    void* const address = ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::byte*>(address);
}

Mapping::~Mapping() {
    if (begin_ != nullptr) ::munmap(begin_, bytes_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

void Mapping::protect(std::byte* from, std::size_t bytes, Protection protection) {
    int flags = PROT_NONE;
    switch (protection) {
        case Protection::none: break;
        case Protection::read_only: flags = PROT_READ; break;
        case Protection::writable: flags = PROT_READ | PROT_WRITE; break;
        case Protection::executable: flags = PROT_READ | PROT_EXEC; break;
    }
    if (::mprotect(from, bytes, flags) != 0) throw std::bad_alloc();
}

void Mapping::make_executable(std::byte* from, std::size_t bytes) {
    protect(from, bytes, Protection::executable);
    auto* const code = reinterpret_cast<char*>(from);
    __builtin___clear_cache(code, code + bytes);
}

BufferStore::BufferStore(const Plan& plan, BufferLayout layout, std::shared_ptr<const BufferStore> shared)
    : layout_(layout), shared_(std::move(shared)) {
    std::vector<std::size_t> block_bytes;
    for (const BufferSpec& buffer : plan.buffers) block_bytes.push_back(buffer.bytes);

    // Equal contents share one place: a plan of a thousand dispatches often passes the same few structs.
    std::map<std::string_view, std::size_t> place_of;  // spacious: offset in the one block; guarded: number of the block
    std::vector<std::vector<std::size_t>> places(plan.dispatches.size());
    std::size_t shared_bytes = 0;
    for (std::size_t d = 0; d < plan.dispatches.size(); ++d) {
        for (const Binding& binding : plan.dispatches[d].bindings) {
            const auto* bound = std::get_if<BytesBinding>(&binding.value);
            if (bound == nullptr) {
                places[d].push_back(0);
                continue;
            }
            const std::size_t next = layout == BufferLayout::spacious ? shared_bytes : block_bytes.size();
            const auto [entry, is_new] = place_of.try_emplace(content_of(*bound), next);
            places[d].push_back(entry->second);
            if (!is_new) continue;
            shared_bytes += round_up(bound->bytes.size() + bytes_spacing, bytes_spacing);
            if (layout != BufferLayout::spacious) block_bytes.push_back(bound->bytes.size());
        }
    }
    if (layout == BufferLayout::spacious && shared_bytes != 0) block_bytes.push_back(shared_bytes);

    if (shared_ != nullptr) {
        const auto last = shared_->blocks_.begin() + static_cast<std::ptrdiff_t>(plan.buffers.size());
        blocks_.assign(shared_->blocks_.begin(), last);
    }
    reserve(block_bytes, plan.buffers.size());
    clear_margins();
    fill_bytes_bindings(plan, places);
}

// Places the blocks that have no place yet.
void BufferStore::reserve(const std::vector<std::size_t>& block_bytes, std::size_t buffers) {
    const std::size_t placed = blocks_.size();
    const bool spacious = layout_ == BufferLayout::spacious;
    const std::size_t slack = spacious ? slack_bytes : 0;
    const auto accessible = [&](std::size_t index) {
        const std::size_t colour = spacious ? index * colour_step % page_size() : 0;
        return slack + round_up(colour + block_bytes[index], page_size()) + slack;
    };
    std::size_t total = 0;
    for (std::size_t i = placed; i < block_bytes.size(); ++i) total += accessible(i);

    std::size_t guard = largest_guard;
    for (;; guard /= 4) {
        try {
            mapping_ = Mapping(total + guard * (block_bytes.size() - placed + 1));
            break;
        } catch (const std::bad_alloc&) {
            if (guard <= smallest_guard) throw;
        }
    }

    std::byte* next = mapping_.begin() + guard;
    for (std::size_t i = placed; i < block_bytes.size(); ++i) {
        PlacedBlock block;
        block.bytes = block_bytes[i];
        block.accessible_begin = next;
        block.accessible_end = next + accessible(i);
        switch (layout_) {
            case BufferLayout::spacious: block.base = next + slack + i * colour_step % page_size(); break;
            case BufferLayout::guarded_end: block.base = block.accessible_end - round_up(block.bytes, base_alignment); break;
            case BufferLayout::guarded_start: block.base = next; break;
        }
        block.zone_begin = block.accessible_begin - guard / 2;
        block.zone_end = block.accessible_end + guard / 2;
        if (i < buffers) block.buffer = static_cast<std::uint32_t>(i);
        mapping_.make_writable(block.accessible_begin, accessible(i));
        if (block.bytes >= 2 * huge_page) {
            std::byte* const first = block.base + huge_page - reinterpret_cast<std::uintptr_t>(block.base) % huge_page;
            const auto whole = static_cast<std::size_t>(block.base + block.bytes - first) / huge_page * huge_page;
            ::madvise(first, whole, MADV_HUGEPAGE);  // a wish; nothing depends on it
        }
        blocks_.push_back(block);
        next = block.accessible_end + guard;
    }
}

void BufferStore::fill_bytes_bindings(const Plan& plan, const std::vector<std::vector<std::size_t>>& places) {
    bytes_.resize(places.size());
    for (std::size_t d = 0; d < places.size(); ++d) {
        bytes_[d].resize(places[d].size());
        for (std::size_t b = 0; b < places[d].size(); ++b) {
            const auto* bound = std::get_if<BytesBinding>(&plan.dispatches[d].bindings[b].value);
            if (bound == nullptr) continue;
            bytes_[d][b] = layout_ == BufferLayout::spacious ? blocks_.back().base + places[d][b] : blocks_[places[d][b]].base;
            std::memcpy(bytes_[d][b], bound->bytes.data(), bound->bytes.size());
        }
    }
    // A reset doesn't restore them, so that nothing may change them.
    for (const PlacedBlock& block : blocks_) {
        if (block.buffer != PlacedBlock::not_a_buffer) continue;
        mapping_.make_read_only(block.accessible_begin, static_cast<std::size_t>(block.accessible_end - block.accessible_begin));
    }
}

const PlacedBlock* BufferStore::zone_of(const void* address) const {
    for (const PlacedBlock& block : blocks_) {
        if (address >= block.zone_begin && address < block.zone_end) return &block;
    }
    return nullptr;
}

void BufferStore::clear_margins() const {
    for (const PlacedBlock& block : blocks_) {
        if (block.buffer == PlacedBlock::not_a_buffer && !bytes_.empty()) continue;  // read-only by now
        std::byte* const end = block.base + block.bytes;
        if (layout_ != BufferLayout::spacious) {
            std::fill(block.accessible_begin, block.base, margin_poison);
            std::fill(end, block.accessible_end, margin_poison);
            continue;
        }
        clear_whole_pages(block.accessible_begin, page_floor(block.base));
        std::fill(page_floor(block.base), block.base, std::byte{0});
        std::fill(end, page_ceiling(end), std::byte{0});
        clear_whole_pages(page_ceiling(end), block.accessible_end);
    }
}

const PlacedBlock* BufferStore::damaged_margin() const {
    for (const PlacedBlock& block : blocks_) {
        if (block.buffer == PlacedBlock::not_a_buffer) continue;
        if (!all_poison(block.accessible_begin, block.base) || !all_poison(block.base + block.bytes, block.accessible_end)) {
            return &block;
        }
    }
    return nullptr;
}

}  // namespace kfp::cpu
