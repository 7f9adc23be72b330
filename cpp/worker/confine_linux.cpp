#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "device/device.hpp"
#include "worker/filter_linux.hpp"
#include "worker/landlock_linux.hpp"
#include "worker/sandbox.hpp"

namespace kfp::detail {
namespace {

// Root without capabilities is held to its own files' permissions, like anyone else.
bool drop_capabilities() noexcept {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[2] = {};
    return ::syscall(__NR_capset, &header, none) == 0;
}

void lower(decltype(RLIMIT_CORE) what, rlim_t value) noexcept {
    rlimit now{};
    if (::getrlimit(what, &now) != 0) return;
    now.rlim_max = std::min(now.rlim_max, value);
    now.rlim_cur = std::min(now.rlim_cur, now.rlim_max);
    ::setrlimit(what, &now);
}

class LinuxSandbox final : public ChildSandbox {
public:
    LinuxSandbox(const Command& command, const char* executable)
        : parent_(::getpid()), filter_(command_filter(executable)), filter_optional_(unconfined_allowed()) {
        auto readable = command.readable;
        readable.push_back(command.argv[0]);
        ruleset_ = out_of_the_way(make_ruleset(readable, command.writable));
    }

    const char* enter() const noexcept override {
        if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return "prctl";
        if (::getppid() != parent_) return "parent is gone";
        if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "prctl";
        lower(RLIMIT_NOFILE, 256);
        if (!drop_capabilities()) return "capset";
        if (ruleset_ && !enter_ruleset(ruleset_)) return "landlock_restrict_self";
        if (!install_filter(filter_) && !filter_optional_) return "seccomp";
        return nullptr;
    }

private:
    pid_t parent_;
    std::vector<sock_filter> filter_;
    bool filter_optional_;
    Descriptor ruleset_;
};

constexpr unsigned on_exec = 1U << 2;  // CLOSE_RANGE_CLOEXEC

bool close_range(int first, unsigned flags) noexcept {
    constexpr long number_close_range = 436;
    return ::syscall(number_close_range, static_cast<unsigned>(first), ~0U, flags) == 0;
}

int descriptor_limit() noexcept {
    rlimit files{};
    constexpr rlim_t most = 65536;
    return ::getrlimit(RLIMIT_NOFILE, &files) == 0 ? static_cast<int>(std::min(files.rlim_cur, most)) : 1024;
}

}  // namespace

std::unique_ptr<ChildSandbox> make_child_sandbox(const Command& command, const char* executable) {
    return std::make_unique<LinuxSandbox>(command, executable);
}

void close_from(int first) noexcept {
    if (close_range(first, 0)) return;
    for (int fd = first; fd < descriptor_limit(); ++fd) ::close(fd);
}

void close_from_on_exec(int first) noexcept {
    if (close_range(first, on_exec)) return;
    for (int fd = first; fd < descriptor_limit(); ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

}  // namespace kfp::detail

namespace kfp {

void confine_self(int channel) {
    for (int fd = 3; fd < channel; ++fd) ::close(fd);
    detail::close_from(channel + 1);
    ::prctl(PR_SET_DUMPABLE, 0);
    detail::lower(RLIMIT_CORE, 0);
    detail::lower(RLIMIT_FSIZE, 0);
    detail::lower(RLIMIT_NOFILE, static_cast<rlim_t>(channel) + 64);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !detail::drop_capabilities())
        throw Error(std::string("confine_self: ") + std::strerror(errno));
    // Landlock reaches the calling thread only; the filter, which opens nothing at all, reaches every one.
    if (const Descriptor ruleset = detail::make_ruleset({}, {}); ruleset) detail::enter_ruleset(ruleset);
    if (!detail::install_filter(detail::sealed_filter()) && !detail::unconfined_allowed())
        throw Error(std::string("this kernel offers no system-call filter (seccomp: ") + std::strerror(errno) +
                    "); set KFP_ALLOW_UNCONFINED=1 to run candidates without one");
}

}  // namespace kfp
