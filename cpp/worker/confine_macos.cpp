#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "device/device.hpp"
#include "worker/sandbox.hpp"

// sandbox.h marks these as deprecated since 10.8 without offering a command-line program anything in their place; they
// are what browsers still use. Declared here because SDKs may drop the header before the symbol.
extern "C" int sandbox_init(const char* profile, std::uint64_t flags, char** errorbuf);
extern "C" void sandbox_free_error(char* errorbuf);

namespace kfp::detail {
namespace {

// Metal compiles and runs through system services, which a purely computing profile would cut off; so the rest of the
// system stays visible, and everything that writes, talks or starts is shut.
constexpr const char* profile =
    "(version 1)(allow default)(deny network*)(deny file-write*)(deny process-fork)(deny process-exec*)"
    "(deny file-read* (subpath \"/Users\"))";

int descriptor_limit() noexcept {
    rlimit files{};
    constexpr rlim_t most = 65536;
    return ::getrlimit(RLIMIT_NOFILE, &files) == 0 ? static_cast<int>(std::min(files.rlim_cur, most)) : 1024;
}

std::string quoted(const std::string& path) {
    std::string text = "\"";
    for (const char c : path) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text + '"';
}

class MacSandbox final : public ChildSandbox {
public:
    explicit MacSandbox(const Command& command) : optional_(unconfined_allowed()) {
        profile_ = "(version 1)(allow default)(deny network*)(deny process-fork)(deny file-write*)(deny file-read* (subpath \"/Users\"))";
        for (const auto& path : command.readable) profile_ += "(allow file-read* (subpath " + quoted(path) + "))";
        profile_ += "(allow file-read* (literal " + quoted(command.argv[0]) + "))";
        for (const auto& path : command.writable) profile_ += "(allow file-read* file-write* (subpath " + quoted(path) + "))";
    }

    // sandbox_init allocates, so it is only safe here because the worker that forks has no other thread in malloc.
    const char* enter() const noexcept override {
        char* error = nullptr;
        if (sandbox_init(profile_.c_str(), 0, &error) == 0) return nullptr;
        sandbox_free_error(error);
        return optional_ ? nullptr : "sandbox_init";
    }

private:
    std::string profile_;
    bool optional_;
};

}  // namespace

std::unique_ptr<ChildSandbox> make_child_sandbox(const Command& command, const char*) {
    return std::make_unique<MacSandbox>(command);
}

void close_from(int first) noexcept {
    for (int fd = first; fd < descriptor_limit(); ++fd) ::close(fd);
}

void close_from_on_exec(int first) noexcept {
    for (int fd = first; fd < descriptor_limit(); ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

}  // namespace kfp::detail

namespace kfp {

void confine_self(int channel) {
    for (int fd = 3; fd < channel; ++fd) ::close(fd);
    // Metal holds descriptors and Mach ports of its own, so nothing above the channel is closed here.
    rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    char* error = nullptr;
    if (sandbox_init(detail::profile, 0, &error) == 0) return;
    const std::string why = error != nullptr ? error : "unknown";
    sandbox_free_error(error);
    if (!detail::unconfined_allowed())
        throw Error("sandbox_init: " + why + "; set KFP_ALLOW_UNCONFINED=1 to run candidates without a sandbox");
}

}  // namespace kfp
