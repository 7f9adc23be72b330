// Integer division by zero, which traps on x86-64 and on no GPU.
#pragma once

#include <ucontext.h>

namespace kfp::cpu {

// Completes the division that trapped, as if by a processor that doesn't: x / 0 has all bits set and x % 0 is x; the most
// negative number divided by -1 is itself. Returns false, with nothing changed, where it finds no such instruction.
// Async-signal-safe.
bool complete_division(ucontext_t& context);

}  // namespace kfp::cpu
