#include "worker/spawn.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "device/device.hpp"
#include "worker/protocol.hpp"

namespace kfp {
namespace {

void check(int error, const char* what) {
    if (error != 0) throw std::system_error(error, std::generic_category(), std::string("starting the worker: ") + what);
}

Descriptor moved_away(int fd) {
    Descriptor moved = out_of_the_way(Descriptor(fd));
    check(moved ? 0 : errno, "fcntl");
    return moved;
}

void set_nonblocking(const Descriptor& fd) {
    check(::fcntl(fd.get(), F_SETFL, O_NONBLOCK) == 0 ? 0 : errno, "fcntl");
}

class Actions {
public:
    Actions() { check(::posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init"); }
    Actions(const Actions&) = delete;
    Actions& operator=(const Actions&) = delete;
    ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }
    void open(int fd, const char* path, int flags) {
        check(::posix_spawn_file_actions_addopen(&actions_, fd, path, flags, 0), "posix_spawn_file_actions_addopen");
    }
    void duplicate(int from, int to) {
        check(::posix_spawn_file_actions_adddup2(&actions_, from, to), "posix_spawn_file_actions_adddup2");
    }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_{};
};

class Attributes {
public:
    Attributes() {
        check(::posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        ::posix_spawnattr_setpgroup(&attributes_, 0);
        short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
#ifdef __APPLE__
        flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
        check(::posix_spawnattr_setflags(&attributes_, flags), "posix_spawnattr_setflags");
    }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
    const posix_spawnattr_t* get() const { return &attributes_; }

private:
    posix_spawnattr_t attributes_{};
};

// Where libraries and temporary files are, and the one switch that the worker itself knows.
std::vector<std::string> scrubbed_environment(const std::string& scratch) {
    std::vector<std::string> kept{"TMPDIR=" + scratch};
    for (const char* name : {"LD_LIBRARY_PATH", "KFP_ALLOW_UNCONFINED"}) {
        if (const char* value = std::getenv(name)) kept.push_back(std::string(name) + "=" + value);
    }
    return kept;
}

}  // namespace

ScratchFolder::ScratchFolder() {
    std::error_code error;
    auto folder = std::filesystem::temp_directory_path(error);
    path_ = ((error ? "/tmp" : folder) / "kfp-worker-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr)
        throw DeviceUnavailable("can't make a temporary folder '" + path_ + "': " + std::strerror(errno));
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

Spawned spawn_worker(const std::string& executable, const std::string& scratch) {
    if (::access(executable.c_str(), X_OK) != 0)
        throw DeviceUnavailable("the worker program '" + executable + "' can't be run: " + std::strerror(errno));
    std::array<int, 2> ends{};
    check(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0 ? 0 : errno, "socketpair");
    Spawned spawned;
    spawned.channel = moved_away(ends[0]);
    const Descriptor theirs = moved_away(ends[1]);
    check(::pipe(ends.data()) == 0 ? 0 : errno, "pipe");
    spawned.errors = moved_away(ends[0]);
    const Descriptor error_writer = moved_away(ends[1]);
    set_nonblocking(spawned.channel);
    set_nonblocking(spawned.errors);
#ifdef __APPLE__
    const int on = 1;
    ::setsockopt(spawned.channel.get(), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif

    Actions actions;
    actions.open(0, "/dev/null", O_RDONLY);
    actions.open(1, "/dev/null", O_WRONLY);
    actions.duplicate(error_writer.get(), 2);
    actions.duplicate(theirs.get(), worker_channel);
    const Attributes attributes;
    auto environment = scrubbed_environment(scratch);
    std::vector<char*> environment_pointers;
    for (auto& variable : environment) environment_pointers.push_back(variable.data());
    environment_pointers.push_back(nullptr);
    std::string name = executable;
    std::array<char*, 2> argv{name.data(), nullptr};
    pid_t pid = -1;
    const int error =
        ::posix_spawn(&pid, executable.c_str(), actions.get(), attributes.get(), argv.data(), environment_pointers.data());
    if (error != 0)
        throw DeviceUnavailable("the worker program '" + executable + "' doesn't start: " + std::strerror(error));
    spawned.pid = pid;
    return spawned;
}

}  // namespace kfp
