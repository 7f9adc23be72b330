// Tells AddressSanitizer, where it is on, of stacks that it can't know: which one runs, and where there is none any more.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define KFP_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KFP_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(KFP_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace kfp::cpu {

struct StackBounds {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
};

#if defined(KFP_ADDRESS_SANITIZER)
inline void* about_to_switch_to(const StackBounds& stack) {
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, stack.bottom, stack.bytes);
    return fake_stack;
}
// Returns the bounds of the stack that was left.
inline StackBounds has_switched(void* fake_stack) {
    StackBounds left;
    __sanitizer_finish_switch_fiber(fake_stack, &left.bottom, &left.bytes);
    return left;
}
// Memory that is mapped anew keeps the marks of a stack that was there before it.
inline void forget_marks(const void* from, std::size_t bytes) { __asan_unpoison_memory_region(from, bytes); }
#else
inline void forget_marks(const void*, std::size_t) {}
inline void* about_to_switch_to(const StackBounds&) { return nullptr; }
inline StackBounds has_switched(void*) { return {}; }
#endif

}  // namespace kfp::cpu
