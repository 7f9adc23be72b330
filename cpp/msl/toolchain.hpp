// clang and ld.lld as confined commands, and the two things that are built once and cached: the precompiled library
// headers and the runtime glue.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "worker/confine.hpp"

namespace kfp::msl {

// Each threadgroup variable of a kernel has a stretch of this size to itself, so that no address depends on the size of
// another: nothing larger than 32,768 bytes can run. Not a power of two, lest all variables meet in the same cache sets.
inline constexpr std::uint32_t threadgroup_slot_bytes = 32768 + 5 * 64;

class CompilerTools {
public:
    // Builds what is not cached yet. Throws kfp::Error with the compiler's words if that fails.
    CompilerTools(const Toolchain& toolchain, Math math);

    // `source` and `object` are names in `folder`.
    CommandResult check(const std::string& folder, const std::string& source) const;
    // With `in_order`, every call has its own place in the code, and those are in the order of the source as far as
    // possible: the runtime tells simdgroup operations by their return addresses.
    CommandResult compile(const std::string& folder, const std::string& source, const std::string& object, bool in_order) const;
    // Text of the compiler's own for `source`, not optimised, with the place of every instruction.
    CommandResult emit(const std::string& folder, const std::string& source, const std::string& text) const;
    // From such a text to one that is easy to read for a program: values instead of variables, calls put in line.
    CommandResult simplify(const std::string& folder, const std::string& text, const std::string& simple) const;
    // From such a text to an object.
    CommandResult assemble(const std::string& folder, const std::string& text, const std::string& object, bool in_order) const;
    // In process where that is possible, by ld.lld for the rest and for its words on a program that can't be linked.
    CommandResult link(const std::string& folder, const std::string& object, const std::string& image) const;

    // Names everything that an object depends on besides the program text.
    const std::string& key() const { return key_; }
    // Files that the compiler may have read for a program that was written by rewrite().
    bool is_ours(std::string_view dependency) const;

private:
    std::vector<std::string> clang(std::vector<std::string> arguments) const;
    Command command(std::vector<std::string> argv, const std::string& folder) const;
    void build(const std::string& target, std::vector<std::vector<std::string>> steps) const;

    Toolchain toolchain_;
    std::vector<std::string> language_;
    std::string key_;
    std::string glue_sources_;
    std::string precompiled_;  // absolute paths in the cache
    std::string glue_;
};

}  // namespace kfp::msl
