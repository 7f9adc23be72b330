#include "device/cpu/context_switch.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)

asm(R"(
.pushsection .text
.balign 64
.hidden kfp_switch_context
.globl kfp_switch_context
.type kfp_switch_context, @function
kfp_switch_context:
    .cfi_startproc
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .cfi_endproc
.size kfp_switch_context, .-kfp_switch_context

.hidden kfp_enter_context
.globl kfp_enter_context
.type kfp_enter_context, @function
kfp_enter_context:
    .cfi_startproc
    .cfi_undefined rip
    movq %r13, %rdi
    callq *%r12
    ud2
    .cfi_endproc
.size kfp_enter_context, .-kfp_enter_context
.popsection
)");

#elif defined(__aarch64__)

asm(R"(
.pushsection .text
.balign 64
.hidden kfp_switch_context
.globl kfp_switch_context
.type kfp_switch_context, %function
kfp_switch_context:
    .cfi_startproc
    sub sp, sp, #160
    stp x19, x20, [sp]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .cfi_endproc
.size kfp_switch_context, .-kfp_switch_context

.hidden kfp_enter_context
.globl kfp_enter_context
.type kfp_enter_context, %function
kfp_enter_context:
    .cfi_startproc
    .cfi_undefined x30
    mov x0, x20
    blr x19
    brk #1
    .cfi_endproc
.size kfp_enter_context, .-kfp_enter_context
.popsection
)");

#else
#error "the software device knows x86-64 and arm64"
#endif

extern "C" void kfp_enter_context();

namespace kfp::cpu {

Context make_context(std::byte* top, void (*entry)(void*), void* argument) {
    // What kfp_switch_context will pop, lowest address first.
#if defined(__x86_64__)
    enum : std::size_t { r15, r14, r13, r12, rbx, rbp, return_address, padding, more_padding, words };
    std::array<std::uintptr_t, words> frame{};
    frame[r12] = reinterpret_cast<std::uintptr_t>(entry);
    frame[r13] = reinterpret_cast<std::uintptr_t>(argument);
    frame[return_address] = reinterpret_cast<std::uintptr_t>(&kfp_enter_context);
#else
    enum : std::size_t { x19, x20, x30 = 11, words = 20 };
    std::array<std::uintptr_t, words> frame{};
    frame[x19] = reinterpret_cast<std::uintptr_t>(entry);
    frame[x20] = reinterpret_cast<std::uintptr_t>(argument);
    frame[x30] = reinterpret_cast<std::uintptr_t>(&kfp_enter_context);
#endif
    constexpr std::uintptr_t alignment = 64;
    const auto aligned_top = reinterpret_cast<std::uintptr_t>(top) & ~(alignment - 1);
    std::byte* context = top - (reinterpret_cast<std::uintptr_t>(top) - aligned_top) - sizeof frame;
    std::memcpy(context, frame.data(), sizeof frame);
    return context;
}

}  // namespace kfp::cpu
