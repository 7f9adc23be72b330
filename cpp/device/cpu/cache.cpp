#include "device/cpu/cache.hpp"

#include <cstdint>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace kfp::cpu {
namespace {

#if defined(__x86_64__)
// Of every x86-64 processor there is.
std::size_t line_bytes() { return 64; }
void evict_line(const std::byte* address) { _mm_clflush(address); }
void wait_for_evictions() { _mm_mfence(); }
#else
// Linux lets programs read the cache type register and evict lines by address.
std::size_t line_bytes() {
    std::uint64_t type = 0;
    asm("mrs %0, ctr_el0" : "=r"(type));
    return std::size_t{4} << (type >> 16 & 15);
}
void evict_line(const std::byte* address) { asm volatile("dc civac, %0" ::"r"(address) : "memory"); }
void wait_for_evictions() { asm volatile("dsb ish" ::: "memory"); }
#endif

}  // namespace

void evict_from_caches(std::span<const std::byte> memory) {
    const std::size_t line = line_bytes();
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::uintptr_t end = begin + memory.size();
    for (std::uintptr_t at = begin / line * line; at < end; at += line) evict_line(reinterpret_cast<const std::byte*>(at));
    wait_for_evictions();
}

}  // namespace kfp::cpu
