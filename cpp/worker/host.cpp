#include "worker/host.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

namespace kfp {
namespace {

constexpr double open_seconds = 60.0;
// Building the library headers takes seconds; a loaded machine, or another process that is at it, minutes.
constexpr double warm_seconds = 600.0;
// A compilation ends itself at its own limit, with a diagnostic; the parent steps in only when that failed.
constexpr double compile_grace_seconds = 2.0;
constexpr std::uint64_t small_reply = 64 * 1024;
constexpr std::uint64_t most_intermediate_bytes = std::uint64_t{64} << 20;

std::string seconds_text(double seconds) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g s", seconds);
    return text.data();
}

std::string signal_text(int signal) {
    switch (signal) {
        case SIGSEGV: return "SIGSEGV: an access to memory that isn't there";
        case SIGBUS: return "SIGBUS: an access to memory that can't be had";
        case SIGILL: return "SIGILL: an illegal instruction or a trap";
        case SIGTRAP: return "SIGTRAP: a trap";
        case SIGFPE: return "SIGFPE: an integer division by zero";
        case SIGABRT: return "SIGABRT: aborted";
        case SIGSYS: return "SIGSYS: a forbidden system call";
        case SIGKILL: return "SIGKILL: by the system, most likely for its memory";
        default: return "signal " + std::to_string(signal);
    }
}

double sampled(Reader& from) {
    const auto seconds = from.get<double>();
    // Written so that a NaN fails.
    if (!(seconds >= 0.0)) throw ProtocolError("a sample that is no time");
    return seconds;
}

}  // namespace

WorkerHost::WorkerHost(const std::string& device, const Toolchain& toolchain, const WorkerLimits& limits,
                       std::function<void()> interrupted)
    : limits_(limits), interrupted_(std::move(interrupted)), status_(sizeof(StatusPage)) {
    status_page_ = status_.map(Access::write);  // ours alone until it is sent: cleared below, then only read
    new (status_page_.bytes().data()) StatusPage{};
    status_page_ = status_.map(Access::read);
    start(toolchain);
    try {
        OpenRequest request{device, toolchain, limits.compile_seconds, limits.compile_memory_bytes};
        Writer writer;
        encode(writer, request);
        const std::array<int, 1> descriptors{status_.descriptor()};
        exchange(Request::open, writer.take(), open_seconds, small_reply, descriptors);
    } catch (...) {
        close();
        throw;
    }
}

WorkerHost::~WorkerHost() { close(); }

void WorkerHost::start(const Toolchain& toolchain) {
    Spawned spawned = spawn_worker(toolchain.sandbox, scratch_.emplace().path());
    pid_ = spawned.pid;
    running_ = true;
    channel_ = std::move(spawned.channel);
    errors_ = std::move(spawned.errors);
    limit_memory(limits_.memory_bytes);
}

// From outside, so that the worker needs no right to change its own limits.
void WorkerHost::limit_memory([[maybe_unused]] std::uint64_t bytes) {
#ifdef __linux__
    rlimit now{};
    // Private writable memory: reserved address space, which guard zones and fiber stacks are made of, costs nothing.
    if (::prlimit(pid_, RLIMIT_DATA, nullptr, &now) != 0) return;
    now.rlim_cur = std::min<rlim_t>(bytes, now.rlim_max);
    ::prlimit(pid_, RLIMIT_DATA, &now, nullptr);
#endif
}

std::pair<std::uint32_t, CompileReport> WorkerHost::compile(std::string_view source, const CompileOptions& options) {
    const std::scoped_lock lock(one_at_a_time_);
    warm(options.math);
    if (options.counters > most_counters) throw Error("compile: " + std::to_string(options.counters) + " counters, at most " +
                                                      std::to_string(most_counters) + " are possible");
    Writer writer;
    encode(writer, options);
    writer.text(source);
    const auto reply = exchange(Request::compile, writer.take(), limits_.compile_seconds + compile_grace_seconds,
                                limits_.output_bytes + small_reply);
    try {
        Reader from(reply.payload);
        const auto library = from.get<std::uint32_t>();
        CompileReport report = decode_report(from);
        from.end();
        if (library != counters_.size()) throw ProtocolError("a library number out of turn");
        counters_.push_back(options.counters);
        return {library, std::move(report)};
    } catch (const ProtocolError& error) {
        fail(Failure::protocol, std::string("the worker's compile report is malformed: ") + error.what());
    }
}

void WorkerHost::warm(Math math) {
    bool& warmed = warmed_.at(static_cast<std::size_t>(math));
    if (warmed) return;
    Writer writer;
    writer.put(math);
    exchange(Request::warm, writer.take(), warm_seconds, small_reply);
    warmed = true;
}

Intermediate WorkerHost::intermediate(std::string_view source, const CompileOptions& options) {
    const std::scoped_lock lock(one_at_a_time_);
    warm(options.math);
    Writer writer;
    encode(writer, options);
    writer.text(source);
    const auto reply = exchange(Request::intermediate, writer.take(), limits_.compile_seconds + compile_grace_seconds,
                                most_intermediate_bytes);
    try {
        Reader from(reply.payload);
        Intermediate made = decode_intermediate(from);
        from.end();
        return made;
    } catch (const ProtocolError& error) {
        fail(Failure::protocol, std::string("the worker's intermediate code is malformed: ") + error.what());
    }
}

std::vector<std::uint64_t> WorkerHost::take_counts(std::uint32_t library) {
    const std::scoped_lock lock(one_at_a_time_);
    if (library >= counters_.size())
        throw Error("library " + std::to_string(library) + " of a worker that has compiled " + std::to_string(counters_.size()));
    Writer writer;
    writer.put(library);
    std::vector<std::uint64_t> counts(counters_[library]);
    const auto reply = exchange(Request::counts, writer.take(), limits_.run_seconds, counts.size() * sizeof counts[0] + small_reply);
    try {
        Reader from(reply.payload);
        for (auto& count : counts) count = from.get<std::uint64_t>();
        from.end();
        return counts;
    } catch (const ProtocolError& error) {
        fail(Failure::protocol, std::string("the worker's counts are malformed: ") + error.what());
    }
}

std::uint32_t WorkerHost::prepare(std::uint32_t library, std::shared_ptr<const PlanImage> plan, const RunOptions& options,
                                  std::optional<std::uint32_t> shares) {
    const std::scoped_lock lock(one_at_a_time_);
    if (shares) execution(*shares);
    std::uint64_t outputs_bytes = 0;
    for (const auto& buffer : plan->plan.buffers) {
        if (buffer.role != BufferRole::scratch) outputs_bytes = std::max(outputs_bytes, buffer.bytes);
    }
    Execution execution{plan, SharedMemory(static_cast<std::size_t>(outputs_bytes))};
    Writer writer;
    writer.put(library);
    writer.put(static_cast<std::uint8_t>(options.checked));
    writer.put(options.order_seed);
    writer.put(options.threads);
    writer.put(static_cast<std::uint8_t>(options.cold));
    writer.put(shares.value_or(no_execution));
    writer.put(static_cast<std::uint64_t>(plan->contents.size()));
    writer.put(outputs_bytes);
    const std::array<int, 2> descriptors{plan->contents.descriptor(), execution.outputs.descriptor()};
    limit_memory(limits_.memory_bytes + 2 * (plan_bytes_ + plan->buffer_bytes));
    const auto reply = exchange(Request::prepare, writer.take() + plan->encoded, limits_.run_seconds, small_reply,
                                descriptors, plan.get());
    if (!shares) plan_bytes_ += plan->buffer_bytes;
    executions_.push_back(std::move(execution));
    const auto expected = static_cast<std::uint32_t>(executions_.size() - 1);
    try {
        Reader from(reply.payload);
        if (from.get<std::uint32_t>() != expected) throw ProtocolError("an execution number out of turn");
        from.end();
    } catch (const ProtocolError& error) {
        fail(Failure::protocol, std::string("the worker's answer to prepare is malformed: ") + error.what());
    }
    return expected;
}

RunReport WorkerHost::run(std::uint32_t number, bool reset) {
    const std::scoped_lock lock(one_at_a_time_);
    Writer writer;
    writer.put(number);
    writer.put(static_cast<std::uint8_t>(reset));
    const auto reply = exchange(Request::run, writer.take(), limits_.run_seconds, small_reply, {},
                                execution(number).plan.get());
    try {
        Reader from(reply.payload);
        const RunReport report{from.get<double>(), reply.wall_seconds};
        from.end();
        // Written so that a NaN fails.
        if (!(report.device_seconds >= 0.0 && report.device_seconds <= report.wall_seconds))
            throw ProtocolError("a device time that can't be: " + seconds_text(report.device_seconds) + " within " +
                                seconds_text(report.wall_seconds));
        return report;
    } catch (const ProtocolError& error) {
        fail(Failure::protocol, std::string("the worker's answer to run is malformed: ") + error.what());
    }
}

SampleReport WorkerHost::sample(const SampleRequest& request) {
    const std::scoped_lock lock(one_at_a_time_);
    for (const auto& arm : request.arms) execution(arm.execution);
    for (const auto index : request.order) {
        if (index < request.arms.size()) continue;
        throw PlanError("sample: order names execution " + std::to_string(index) + " of " +
                        std::to_string(request.arms.size()));
    }
    if (request.sentinel && *request.sentinel >= request.arms.size())
        throw PlanError("sample: the sentinel is execution " + std::to_string(*request.sentinel) + " of " +
                        std::to_string(request.arms.size()));
    Writer writer;
    encode(writer, request);
    const PlanImage* plan = request.arms.empty() ? nullptr : execution(request.arms[0].execution).plan.get();
    const auto reply = exchange(Request::sample, writer.take(), limits_.run_seconds,
                                small_reply + request.order.size() * sizeof(double), {}, plan);
    try {
        Reader from(reply.payload);
        SampleReport report;
        report.warm_up.resize(from.count(sizeof(double)));
        report.seconds.resize(request.order.size());
        for (double& one : report.warm_up) one = sampled(from);
        for (double& one : report.seconds) report.device_seconds += one = sampled(from);
        from.end();
        report.wall_seconds = reply.wall_seconds;
        if (!(report.device_seconds <= reply.wall_seconds))
            throw ProtocolError("samples that took longer than the wait for them");
        return report;
    } catch (const ProtocolError& error) {
        fail(Failure::protocol, std::string("the worker's answer to sample is malformed: ") + error.what());
    }
}

std::uint64_t WorkerHost::buffer_bytes(std::uint32_t number, std::uint32_t buffer) const {
    const std::scoped_lock lock(one_at_a_time_);
    return readable_bytes(number, buffer);
}

std::uint64_t WorkerHost::readable_bytes(std::uint32_t number, std::uint32_t buffer) const {
    const auto& buffers = execution(number).plan->plan.buffers;
    if (buffer >= buffers.size())
        throw PlanError("read: buffer " + std::to_string(buffer) + " of a plan with " + std::to_string(buffers.size()));
    if (buffers[buffer].role == BufferRole::scratch)
        throw PlanError("read: buffer '" + buffers[buffer].name + "' is scratch, which is never read back");
    return buffers[buffer].bytes;
}

void WorkerHost::read(std::uint32_t number, std::uint32_t buffer, std::span<std::byte> into) {
    const std::scoped_lock lock(one_at_a_time_);
    if (into.size() != readable_bytes(number, buffer)) throw PlanError("read: a destination of another size");
    Writer writer;
    writer.put(number);
    writer.put(buffer);
    exchange(Request::read, writer.take(), limits_.run_seconds, small_reply, {}, execution(number).plan.get());
    const Mapping outputs = execution(number).outputs.map(Access::read);
    std::memcpy(into.data(), outputs.bytes().data(), into.size());
}

const WorkerHost::Execution& WorkerHost::execution(std::uint32_t number) const {
    if (number >= executions_.size())
        throw PlanError("execution " + std::to_string(number) + " of a worker that has prepared " +
                        std::to_string(executions_.size()));
    return executions_[number];
}

WorkerHost::Reply WorkerHost::exchange(Request request, std::string payload, double seconds, std::uint64_t most_reply,
                                       std::span<const int> descriptors, const PlanImage* plan) {
    if (!running_) throw WorkerFailure(Failure::crash, "this worker is closed");
    current_plan_ = plan;
    const auto started = Clock::now();
    const auto deadline = started + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    const FrameHeader header{frame_magic, static_cast<std::uint32_t>(request), payload.size()};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes += payload;
    Reply reply;
    FrameHeader answer;
    try {
        send(bytes, descriptors, deadline, seconds);
        receive(reinterpret_cast<char*>(&answer), sizeof answer, deadline, seconds);
        if (answer.magic != frame_magic || answer.kind > static_cast<std::uint32_t>(Status::error))
            fail(Failure::protocol, "the worker's answer isn't one");
        if (answer.length > most_reply)
            fail(Failure::output, "the worker's answer has " + std::to_string(answer.length) + " bytes, the limit is " +
                                      std::to_string(most_reply));
        reply.payload.resize(static_cast<std::size_t>(answer.length));
        receive(reply.payload.data(), reply.payload.size(), deadline, seconds);
    } catch (...) {
        end_process();
        throw;
    }
    reply.wall_seconds = std::chrono::duration<double>(Clock::now() - started).count();
    const auto status = static_cast<Status>(answer.kind);
    if (status != Status::ok) raise_status(status, reply.payload);
    return reply;
}

void WorkerHost::raise_status(Status status, std::string_view payload) {
    std::string message;
    try {
        Reader from(payload);
        message = printable(from.text());
        from.end();
    } catch (const ProtocolError& error) {
        fail(Failure::protocol, std::string("the worker's refusal is malformed: ") + error.what());
    }
    switch (status) {
        case Status::plan_error: throw PlanError(message);
        case Status::pipeline_error: throw PipelineError(message);
        case Status::device_unavailable: throw DeviceUnavailable(message);
        case Status::out_of_memory: fail(Failure::memory, message);
        case Status::refused: fail(Failure::refused, message);
        case Status::error: throw Error(message);
        case Status::ok:
        case Status::fault: break;
    }
    fail(Failure::fault, message);
}

void WorkerHost::send(std::string_view bytes, std::span<const int> descriptors, Clock::time_point deadline, double seconds) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(max_frame_descriptors * sizeof(int))> control{};
    while (!bytes.empty()) {
        iovec part{const_cast<char*>(bytes.data()), bytes.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (!descriptors.empty()) {
            message.msg_control = control.data();
            message.msg_controllen = static_cast<decltype(message.msg_controllen)>(CMSG_SPACE(descriptors.size_bytes()));
            cmsghdr* const rights = CMSG_FIRSTHDR(&message);
            rights->cmsg_level = SOL_SOCKET;
            rights->cmsg_type = SCM_RIGHTS;
            rights->cmsg_len = static_cast<decltype(rights->cmsg_len)>(CMSG_LEN(descriptors.size_bytes()));
            std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
        }
#ifdef MSG_NOSIGNAL
        constexpr int flags = MSG_NOSIGNAL;
#else
        constexpr int flags = 0;
#endif
        const auto sent = ::sendmsg(channel_.get(), &message, flags);
        if (sent > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
            descriptors = {};
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            await(POLLOUT, deadline, seconds);
        } else if (errno != EINTR) {
            fail_as_it_died();
        }
    }
}

void WorkerHost::receive(char* data, std::size_t size, Clock::time_point deadline, double seconds) {
    while (size > 0) {
        const auto got = ::recv(channel_.get(), data, size, 0);
        if (got > 0) {
            data += got;
            size -= static_cast<std::size_t>(got);
        } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            await(POLLIN, deadline, seconds);
        } else if (got == 0 || errno != EINTR) {
            fail_as_it_died();
        }
    }
}

// Waits for the channel, keeps the worker's stderr from filling up, and lets the caller be interrupted.
void WorkerHost::await(short events, Clock::time_point deadline, double seconds) {
    constexpr auto between_interrupt_checks = std::chrono::milliseconds(100);
    for (;;) {
        const auto left = deadline - Clock::now();
        if (left <= Clock::duration::zero()) fail(Failure::timeout, "stopped after " + seconds_text(seconds));
        const auto wait = std::min<Clock::duration>(left, between_interrupt_checks);
        std::array<pollfd, 2> fds{{{channel_.get(), events, 0}, {errors_ ? errors_.get() : -1, POLLIN, 0}}};
        const int ready = ::poll(fds.data(), fds.size(),
                                 static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(wait).count()));
        if (ready <= 0 && interrupted_) interrupted_();
        if (ready > 0 && fds[1].revents != 0) drain_errors();
        if (ready > 0 && fds[0].revents != 0) return;
    }
}

void WorkerHost::drain_errors() {
    constexpr std::size_t kept = 4096;
    std::array<char, 4096> chunk;
    for (;;) {
        if (!errors_) return;
        const auto got = ::read(errors_.get(), chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return;
        if (got == 0) {
            errors_.reset();
            return;
        }
        error_bytes_ += static_cast<std::uint64_t>(got);
        error_text_.append(chunk.data(), std::min(static_cast<std::size_t>(got), kept - std::min(kept, error_text_.size())));
        if (error_bytes_ > limits_.output_bytes && running_)
            fail(Failure::output, "the worker wrote more than " + std::to_string(limits_.output_bytes) + " bytes to stderr");
    }
}

// Names the place by what the status page says, as far as that makes sense.
void WorkerHost::fail(Failure kind, std::string message) {
    StatusPage page;
    std::memcpy(&page, status_page_.bytes().data(), sizeof page);
    std::optional<std::string> kernel;
    std::optional<std::uint32_t> dispatch;
    if (current_plan_ != nullptr && page.progress.running == 1) {
        const Plan& plan = current_plan_->plan;
        if (page.progress.dispatch < plan.dispatches.size()) {
            dispatch = page.progress.dispatch;
            kernel = plan.kernels[plan.dispatches[page.progress.dispatch].kernel];
        }
    }
    end_process();
    throw WorkerFailure(kind, message, std::move(kernel), dispatch);
}

void WorkerHost::fail_as_it_died() {
    StatusPage page;
    std::memcpy(&page, status_page_.bytes().data(), sizeof page);
    // It may have closed the channel and live on; a moment is enough for one that is really dying.
    siginfo_t info{};
    for (int i = 0; i < 50 && info.si_pid != pid_; ++i) {
        if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) break;
        if (info.si_pid != pid_) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const bool died = info.si_pid == pid_;
    drain_errors();
    const int status = end_process();
    Failure kind = Failure::crash;
    std::string message;
    if (!died) {
        kind = Failure::protocol;
        message = "the worker closed its channel";
    } else if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        message = "the worker died of " + signal_text(signal);
        if (signal == SIGSYS) kind = Failure::refused;
        if (signal == SIGKILL) kind = Failure::memory;
        if (signal == SIGXCPU) kind = Failure::timeout;
    } else {
        message = "the worker exited with status " + std::to_string(WEXITSTATUS(status));
    }
    page.fault_message.back() = '\0';
    const std::string fault = printable(page.fault_message.data());
    if (page.fault_kind == static_cast<std::uint32_t>(FaultKind::fault)) kind = Failure::fault;
    if (page.fault_kind == static_cast<std::uint32_t>(FaultKind::memory)) kind = Failure::memory;
    if (!fault.empty()) message = fault;
    if (const auto said = printable(error_text_); !said.empty()) message += "\n" + said;
    fail(kind, message);
}

int WorkerHost::end_process() noexcept {
    if (!running_.exchange(false)) return 0;
    channel_.reset();
    errors_.reset();
    int status = 0;
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    scratch_.reset();
    return status;
}

void WorkerHost::close() noexcept {
    std::unique_lock lock(one_at_a_time_, std::try_to_lock);
    if (!lock) {
        // Another thread waits for an answer; a dead worker gives none, which ends that wait.
        if (running_) ::kill(-pid_, SIGKILL);
        lock.lock();
    }
    end_process();
    executions_.clear();
}

}  // namespace kfp
