// Leaving one stack and continuing on another, within one host thread.
#pragma once

#include <cstddef>

namespace kfp::cpu {

// Where a suspended stack continues: its stack pointer, below which the callee-saved registers lie. The floating-point
// control word is left alone, because nothing that runs on these stacks changes it.
using Context = void*;

// Makes the context of a fresh stack that ends (exclusively) at `top` and will call entry(argument), which never returns.
Context make_context(std::byte* top, void (*entry)(void*), void* argument);

}  // namespace kfp::cpu

// Suspends the running context into *suspended and continues `resumed`.
extern "C" void kfp_switch_context(kfp::cpu::Context* suspended, kfp::cpu::Context resumed) noexcept;
