// What a confined command and a sealed process can't do, tried from the inside.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "check.hpp"
#include "device/cpu/sanitizer.hpp"
#include "worker/confine.hpp"

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> system_folders{"/bin", "/usr", "/lib", "/lib64", "/etc/ld.so.cache"};

struct Folder {
    Folder() {
        std::string pattern = (fs::temp_directory_path() / "kfp-test-XXXXXX").string();
        CHECK(::mkdtemp(pattern.data()) != nullptr);
        path = fs::canonical(pattern).string();
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string path;
};

kfp::CommandResult shell(const std::string& script, const std::string& folder, const kfp::CommandLimits& limits = {}) {
    return kfp::run_confined({{"/bin/sh", "-c", script}, system_folders, {folder}, limits});
}

void test_command_results() {
    const Folder folder;
    auto result = shell("echo out; echo err >&2; exit 3", folder.path);
    CHECK(result.outcome == kfp::Outcome::exited);
    CHECK_EQUAL(result.status, 3);
    CHECK_EQUAL(result.out, "out\n");
    CHECK_EQUAL(result.err, "err\n");
    result = shell("kill -SEGV $$", folder.path);
    CHECK(result.outcome == kfp::Outcome::exited || result.outcome == kfp::Outcome::signalled);
    result = kfp::run_confined({{"/nonexistent/program"}, {}, {folder.path}, {}});
    CHECK(result.outcome == kfp::Outcome::not_started);
    CHECK(result.err.find("/nonexistent/program") != std::string::npos);
    result = kfp::run_confined({{"sh"}, {}, {}, {}});
    CHECK(result.outcome == kfp::Outcome::not_started);
}

void test_command_sees_only_its_files() {
    const Folder readable;
    const Folder writable;
    const Folder secret;
    std::ofstream(secret.path + "/secret") << "secret";
    std::ofstream(readable.path + "/given") << "given\n";
    auto read = [&](const std::string& path) {
        auto folders = system_folders;
        folders.push_back(readable.path);
        return kfp::run_confined({{"/bin/sh", "-c", "read line < " + path + "; echo $line"}, folders, {writable.path}, {}});
    };
    CHECK_EQUAL(read(readable.path + "/given").out, "given\n");
    CHECK(read(secret.path + "/secret").out.find("secret") == std::string::npos);
    CHECK(read("/etc/passwd").out.find("root") == std::string::npos);
    CHECK(read("/proc/self/environ").out == "\n");
    CHECK_EQUAL(shell("echo made > here && pwd", writable.path).out, writable.path + "\n");
    CHECK(fs::exists(writable.path + "/here"));
    CHECK(shell("echo made > " + secret.path + "/made", writable.path).status != 0);
    CHECK(shell("echo made > " + readable.path + "/given", writable.path).status != 0);
    CHECK(!fs::exists(secret.path + "/made"));
}

void test_command_inherits_nothing() {
    const Folder folder;
    ::setenv("KFP_TEST_SECRET", "secret", 1);
    const int leak = ::open("/dev/null", O_RDONLY);  // deliberately not close-on-exec
    auto result = shell("echo [$KFP_TEST_SECRET]; exec 9<&" + std::to_string(leak) + " && echo open", folder.path);
    CHECK(result.out.find("secret") == std::string::npos);
    CHECK(result.out.find("open") == std::string::npos);
    ::close(leak);
}

void test_command_cannot_start_others() {
    const Folder folder;
    CHECK(shell("/bin/true & wait; echo forked", folder.path).out.find("forked") == std::string::npos);
    CHECK(shell("exec /bin/echo second", folder.path).out.find("second") == std::string::npos);
    CHECK(shell("kill -0 " + std::to_string(::getpid()) + " && echo reached", folder.path).out.empty());
}

void test_command_limits() {
    const Folder folder;
    CHECK(shell("while :; do :; done", folder.path, {.seconds = 0.3}).outcome == kfp::Outcome::timed_out);
    CHECK(shell("exec >&- 2>&-; while :; do :; done", folder.path, {.seconds = 0.3}).outcome == kfp::Outcome::timed_out);
    const auto flood = shell("while :; do echo spam; done", folder.path, {.seconds = 20.0, .output_bytes = 100000});
    CHECK(flood.outcome == kfp::Outcome::too_much_output);
    CHECK(flood.out.size() < 300000);
    shell("while :; do echo 0123456789012345678901234567890123456789; done > big", folder.path,
          {.seconds = 20.0, .file_bytes = 100000});
    CHECK(fs::file_size(folder.path + "/big") <= 100000);
    const auto bomb = shell("x=0123456789; while :; do x=$x$x; done", folder.path, {.seconds = 20.0, .memory_bytes = 64 << 20});
    CHECK(bomb.outcome != kfp::Outcome::timed_out);
    CHECK(bomb.outcome == kfp::Outcome::signalled || bomb.status != 0);
}

void test_command_cap() {
    const Folder folder;
    kfp::cap_commands({std::chrono::steady_clock::now() + std::chrono::milliseconds(200), UINT64_MAX});
    CHECK(shell("while :; do :; done", folder.path, {.seconds = 20.0}).outcome == kfp::Outcome::timed_out);
    kfp::cap_commands({});
    CHECK_EQUAL(shell("echo again", folder.path).out, "again\n");
}

// What becomes of a process that seals itself and then does `action`: its exit status, or minus the signal.
int sealed(const std::function<int(int channel)>& action) {
    int ends[2];
    CHECK(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
        const int channel = ::dup2(ends[1], 3);
        kfp::confine_self(channel);
        ::_exit(action(channel));
    }
    int status = 0;
    CHECK(::waitpid(pid, &status, 0) == pid);
    ::close(ends[0]);
    ::close(ends[1]);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void test_sealed_process_computes() {
    CHECK_EQUAL(sealed([](int) { return 7; }), 7);
    CHECK_EQUAL(sealed([](int channel) { return ::write(channel, "x", 1) == 1 ? 0 : 1; }), 0);
#ifndef KFP_ADDRESS_SANITIZER  // whose own runtime opens a pipe for every thread that starts
    CHECK_EQUAL(sealed([](int) {
                    int value = 0;
                    std::thread([&] { value = 42; }).join();
                    return value;
                }),
                42);
#endif
    CHECK_EQUAL(sealed([](int) {
                    void* memory = ::mmap(nullptr, 1 << 24, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                    return memory != MAP_FAILED && ::munmap(memory, 1 << 24) == 0 ? 0 : 1;
                }),
                0);
    CHECK_EQUAL(sealed([](int) -> int { ::abort(); }), -SIGABRT);
}

void test_sealed_process_reaches_nothing() {
    CHECK_EQUAL(sealed([](int) { return ::open("/etc/passwd", O_RDONLY) < 0 && errno == EPERM ? 0 : 1; }), 0);
    CHECK_EQUAL(sealed([](int) { return ::access("/etc/passwd", R_OK) != 0 ? 0 : 1; }), 0);
    CHECK_EQUAL(sealed([](int channel) { return ::dup(channel); }), -SIGSYS);
    CHECK_EQUAL(sealed([](int) { return ::socket(AF_INET, SOCK_STREAM, 0); }), -SIGSYS);
    CHECK_EQUAL(sealed([](int) { return static_cast<int>(::fork()); }), -SIGSYS);
    CHECK_EQUAL(sealed([](int) { return ::execl("/bin/true", "true", nullptr); }), -SIGSYS);
    CHECK_EQUAL(sealed([](int) { return ::kill(::getppid(), SIGTERM); }), -SIGSYS);
    CHECK_EQUAL(sealed([](int) { return ::unlink("/tmp/nothing"); }), -SIGSYS);
    CHECK_EQUAL(sealed([](int) {
                    return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
                }),
                -SIGSYS);
    CHECK_EQUAL(sealed([](int) {
                    static char page[8192];
                    char* const start = page + 4096 - reinterpret_cast<std::uintptr_t>(page) % 4096;
                    return ::mprotect(start, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
                }),
                -SIGSYS);
}

void test_sealing_reaches_threads_that_exist() {
    CHECK_EQUAL(sealed([](int) { return 0; }), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
        int ends[2];
        ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
        ::dup2(ends[1], 3);
        std::atomic<bool> go = false;
        std::thread before([&] {
            while (!go) std::this_thread::yield();
            ::socket(AF_INET, SOCK_STREAM, 0);
        });
        kfp::confine_self(3);
        go = true;
        before.join();
        ::_exit(0);
    }
    int status = 0;
    CHECK(::waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

}  // namespace

int main() {
    test_command_results();
    test_command_sees_only_its_files();
    test_command_inherits_nothing();
    test_command_cannot_start_others();
    test_command_limits();
    test_command_cap();
    test_sealed_process_computes();
    test_sealed_process_reaches_nothing();
    test_sealing_reaches_threads_that_exist();
    return kfp::test::outcome();
}
