#include "worker/landlock_linux.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace kfp::detail {
namespace {

// Numbers and layouts are fixed by the kernel's interface; headers older than the running kernel lack the later ones.
constexpr long number_create_ruleset = 444;
constexpr long number_add_rule = 445;
constexpr long number_restrict_self = 446;
constexpr unsigned ask_version = 1;
constexpr int rule_path_beneath = 1;

struct RulesetAttributes {
    std::uint64_t files;
    std::uint64_t network;  // from version 4
    std::uint64_t scoped;   // from version 6
};
struct [[gnu::packed]] PathAttributes {
    std::uint64_t allowed;
    std::int32_t parent;
};

enum Access : std::uint64_t {
    execute = 1U << 0,
    write_file = 1U << 1,
    read_file = 1U << 2,
    read_dir = 1U << 3,
    remove_dir = 1U << 4,
    remove_file = 1U << 5,
    make_dir = 1U << 7,
    make_reg = 1U << 8,
    refer = 1U << 13,         // from version 2
    truncate = 1U << 14,      // from version 3
    ioctl_device = 1U << 15,  // from version 5
};
constexpr std::uint64_t version_1 = (1U << 13) - 1;
constexpr std::uint64_t reading = execute | read_file | read_dir;
constexpr std::uint64_t writing =
    read_file | read_dir | write_file | remove_dir | remove_file | make_dir | make_reg | refer | truncate;
constexpr std::uint64_t meaningful_for_files = execute | read_file | write_file | truncate;

RulesetAttributes everything(long version) {
    RulesetAttributes all{version_1, 0, 0};
    if (version >= 2) all.files |= refer;
    if (version >= 3) all.files |= truncate;
    if (version >= 4) all.network = 3;  // bind and connect TCP
    if (version >= 5) all.files |= ioctl_device;
    if (version >= 6) all.scoped = 3;  // abstract sockets and signals to outside
    return all;
}

void allow(const Descriptor& ruleset, const std::string& path, std::uint64_t access) {
    const Descriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat about{};
    if (!place || ::fstat(place.get(), &about) != 0) return;
    if (!S_ISDIR(about.st_mode)) access &= meaningful_for_files;
    const PathAttributes rule{access, place.get()};
    if (::syscall(number_add_rule, ruleset.get(), rule_path_beneath, &rule, 0) != 0)
        throw std::system_error(errno, std::generic_category(), "landlock_add_rule " + path);
}

}  // namespace

Descriptor make_ruleset(const std::vector<std::string>& readable, const std::vector<std::string>& writable) {
    const long version = ::syscall(number_create_ruleset, nullptr, 0, ask_version);
    if (version < 1) return {};
    const RulesetAttributes handled = everything(version);
    // A kernel takes a structure that is longer than its own as long as the rest is zero.
    Descriptor ruleset(static_cast<int>(::syscall(number_create_ruleset, &handled, sizeof handled, 0)));
    if (!ruleset) return {};
    for (const auto& path : readable) allow(ruleset, path, reading & handled.files);
    for (const auto& path : writable) allow(ruleset, path, writing & handled.files);
    return ruleset;
}

bool enter_ruleset(const Descriptor& ruleset) noexcept {
    return ::syscall(number_restrict_self, ruleset.get(), 0) == 0;
}

}  // namespace kfp::detail
