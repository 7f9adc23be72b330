#include "worker/confine.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include "worker/descriptor.hpp"
#include "worker/sandbox.hpp"

namespace kfp {
namespace {

using Clock = std::chrono::steady_clock;

CommandCap& current_cap() {
    static CommandCap cap;
    return cap;
}

struct Pipe {
    Descriptor read;
    Descriptor write;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "run_confined: pipe");
    const Descriptor read(ends[0]);
    const Descriptor write(ends[1]);
    Pipe pipe{out_of_the_way(read), out_of_the_way(write)};
    if (!pipe.read || !pipe.write) throw std::system_error(errno, std::generic_category(), "run_confined: fcntl");
    return pipe;
}

struct StartFailure {
    const char* step = nullptr;
    int error = 0;
};

struct ChildPlan {
    std::vector<char*> argv;
    const char* folder = "/";
    int null = -1, out = -1, err = -1, failure = -1;
    std::uint64_t cpu_seconds = 0, memory_bytes = 0, file_bytes = 0;
    const detail::ChildSandbox* sandbox = nullptr;
};

bool limit(decltype(RLIMIT_CPU) what, std::uint64_t value) noexcept {
    rlimit now{};
    if (::getrlimit(what, &now) != 0) return false;
    const auto wanted = static_cast<rlim_t>(value);
    now.rlim_max = std::min(now.rlim_max, wanted);
    now.rlim_cur = now.rlim_max;
    return ::setrlimit(what, &now) == 0;
}

const char* enter_child(const ChildPlan& plan) noexcept {
    for (int number = 1; number < 32; ++number) {
        const bool left_to_kfp = std::ranges::find(detail::asks_to_stop, number) != detail::asks_to_stop.end();
        ::signal(number, left_to_kfp ? SIG_IGN : SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (::setpgid(0, 0) != 0) return "setpgid";
    if (::dup2(plan.null, 0) < 0 || ::dup2(plan.out, 1) < 0 || ::dup2(plan.err, 2) < 0 || ::dup2(plan.failure, 3) < 0)
        return "dup2";
    detail::close_from_on_exec(3);
    if (::chdir(plan.folder) != 0) return "chdir";
    if (!limit(RLIMIT_CORE, 0) || !limit(RLIMIT_CPU, plan.cpu_seconds) || !limit(RLIMIT_FSIZE, plan.file_bytes))
        return "setrlimit";
#ifdef __linux__
    if (!limit(RLIMIT_AS, plan.memory_bytes)) return "setrlimit";
#endif
    return plan.sandbox->enter();
}

[[noreturn]] void run_child(const ChildPlan& plan) noexcept {
    StartFailure failure;
    failure.step = enter_child(plan);
    if (failure.step == nullptr) {
        char* const environment[] = {nullptr};
        ::execve(plan.argv[0], plan.argv.data(), environment);
        failure.step = "execve";
    }
    failure.error = errno;
    // The step is a string literal: the parent is the same image, so the pointer means the same there.
    [[maybe_unused]] const auto written = ::write(3, &failure, sizeof failure);
    ::_exit(127);
}

bool read_all(int fd, void* data, std::size_t size) {
    auto* to = static_cast<char*>(data);
    while (size > 0) {
        const auto got = ::read(fd, to, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

int poll_timeout(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 1000));
}

// Reads both pipes until they close, the deadline passes or too much has come.
Outcome drain(const Descriptor& out, const Descriptor& err, Clock::time_point deadline, std::uint64_t most,
              CommandResult& result) {
    std::array<pollfd, 2> fds{{{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}}};
    std::array<std::string*, 2> texts{&result.out, &result.err};
    std::array<char, 65536> chunk;
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (Clock::now() >= deadline) return Outcome::timed_out;
        if (::poll(fds.data(), fds.size(), poll_timeout(deadline)) <= 0) continue;
        for (std::size_t i = 0; i < fds.size(); ++i) {
            if (fds[i].fd < 0 || fds[i].revents == 0) continue;
            const auto got = ::read(fds[i].fd, chunk.data(), chunk.size());
            if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (got <= 0) {
                fds[i].fd = -1;
                continue;
            }
            texts[i]->append(chunk.data(), static_cast<std::size_t>(got));
            if (result.out.size() + result.err.size() > most) return Outcome::too_much_output;
        }
    }
    return Outcome::exited;
}

// The exit is awaited without reaping, so that the process group's number can't be anyone else's when it is killed.
bool await_exit(pid_t pid, Clock::time_point deadline) {
    auto nap = std::chrono::microseconds(20);
    for (;;) {
        siginfo_t info{};
        const int rc = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
        if ((rc == 0 && info.si_pid == pid) || (rc != 0 && errno != EINTR)) return true;
        if (Clock::now() >= deadline) return false;
        std::this_thread::sleep_for(nap);
        nap = std::min(nap * 2, std::chrono::microseconds(5000));
    }
}

int reap(pid_t pid) {
    int status = 0;
    ::kill(-pid, SIGKILL);
    ::kill(pid, SIGKILL);  // in case that it died before its setpgid
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

void cap_commands(const CommandCap& cap) { current_cap() = cap; }

CommandResult run_confined(const Command& command) {
    CommandResult result;
    if (command.argv.empty() || command.argv[0].empty() || command.argv[0][0] != '/') {
        result.err = "run_confined: argv[0] must be an absolute path";
        return result;
    }
    const CommandCap& cap = current_cap();
    const auto allowed = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(command.limits.seconds));
    const auto deadline = std::min(Clock::now() + allowed, cap.deadline);

    Pipe out = make_pipe();
    Pipe err = make_pipe();
    Pipe failure_pipe = make_pipe();
    const Descriptor null = out_of_the_way(Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
    ChildPlan plan;
    for (const auto& argument : command.argv) plan.argv.push_back(const_cast<char*>(argument.c_str()));
    plan.argv.push_back(nullptr);
    if (!command.writable.empty()) plan.folder = command.writable.front().c_str();
    plan.null = null.get();
    plan.out = out.write.get();
    plan.err = err.write.get();
    plan.failure = failure_pipe.write.get();
    const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
    plan.cpu_seconds = static_cast<std::uint64_t>(std::ceil(2 * std::max(left, 0.0))) + 1;
    plan.memory_bytes = std::min(command.limits.memory_bytes, cap.memory_bytes);
    plan.file_bytes = command.limits.file_bytes;
    const auto sandbox = detail::make_child_sandbox(command, plan.argv[0]);
    plan.sandbox = sandbox.get();

    const pid_t pid = ::fork();
    if (pid < 0) {
        result.err = std::string("fork: ") + std::strerror(errno);
        return result;
    }
    if (pid == 0) run_child(plan);
    out.write.reset();
    err.write.reset();
    failure_pipe.write.reset();

    StartFailure failure;
    if (read_all(failure_pipe.read.get(), &failure, sizeof failure)) {
        reap(pid);
        result.err = command.argv[0] + ": " + failure.step + ": " + std::strerror(failure.error);
        return result;
    }
    result.outcome = drain(out.read, err.read, deadline, command.limits.output_bytes, result);
    if (result.outcome == Outcome::exited && !await_exit(pid, deadline)) result.outcome = Outcome::timed_out;
    const int status = reap(pid);
    if (result.outcome != Outcome::exited) {
        result.status = SIGKILL;
    } else if (WIFSIGNALED(status)) {
        result.outcome = WTERMSIG(status) == SIGXCPU ? Outcome::timed_out : Outcome::signalled;
        result.status = WTERMSIG(status);
    } else {
        result.status = WEXITSTATUS(status);
    }
    return result;
}

bool detail::unconfined_allowed() {
    const char* value = std::getenv("KFP_ALLOW_UNCONFINED");
    return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace kfp
