// Makes one shared object of x86-64 objects without a process of its own: starting ld.lld takes longer than compiling a
// small kernel.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kfp::msl {

// What `ld.lld -shared -z defs -z relro -z now -z noexecstack` would make of these relocatable ELF files, in their order.
// Knows only what clang makes of ordinary programs. Empty for anything else, for files that are none, and for programs
// that ld.lld would refuse, such as those with undefined symbols: it is left to ld.lld to link them or to say why not.
std::optional<std::string> link_in_process(std::span<const std::string_view> objects);

}  // namespace kfp::msl
