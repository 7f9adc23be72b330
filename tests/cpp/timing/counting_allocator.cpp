#include "counting_allocator.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include "device/cpu/sanitizer.hpp"

namespace {

constinit std::atomic<long> count{0};

}  // namespace

long kfp::test::allocations() { return count.load(); }

void* operator new(std::size_t bytes) {
    count.fetch_add(1, std::memory_order_relaxed);
    if (void* const memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

#if defined(__GLIBC__) && !defined(KFP_ADDRESS_SANITIZER)
// What doesn't go through operator new.
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* malloc(std::size_t bytes) {
    count.fetch_add(1, std::memory_order_relaxed);
    return __libc_malloc(bytes);
}
#endif
