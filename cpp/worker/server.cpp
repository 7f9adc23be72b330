#include "worker/server.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#ifdef __linux__
#include "device/cpu/fault.hpp"
#include "msl/compile.hpp"
#endif
#include "worker/channel.hpp"
#include "worker/confine.hpp"
#include "worker/shared_memory.hpp"

namespace kfp {
namespace {

struct Reply {
    Status status = Status::ok;
    std::string payload;
};

Reply refusal(Status status, std::string_view message) {
    Writer writer;
    writer.text(message);
    return {status, writer.take()};
}

// The candidate is refused something, as opposed to the parent asking for nonsense.
struct Refused : Error {
    using Error::Error;
};

struct Prepared {
    Mapping contents;
    Mapping outputs;
    std::unique_ptr<Execution> execution;
};

std::atomic<StatusPage*> status_page{nullptr};

// Runs in a signal handler on a thread whose kernel has gone wrong: leaves word for the parent and ends the process.
[[noreturn, maybe_unused]] void report_fault(const char* message, std::uint32_t dispatch, std::uint32_t kernel) {
    static std::atomic_flag reporting;
    while (reporting.test_and_set()) ::poll(nullptr, 0, 1000);  // another thread is at it and will end us all
    StatusPage& page = *status_page.load();
    page.progress = {dispatch, kernel, 1};
    std::strncpy(page.fault_message.data(), message, page.fault_message.size() - 1);
    page.fault_kind = static_cast<std::uint32_t>(FaultKind::fault);
    ::_exit(1);
}

template <typename T>
T& at(std::vector<T>& items, std::uint32_t index, const char* what) {
    if (index >= items.size()) throw ProtocolError(std::string("no ") + what + " " + std::to_string(index));
    return items[index];
}

class Server {
public:
    explicit Server(int channel) : channel_(channel) {}

    int serve() {
        Frame frame;
        while (receive_frame(channel_, frame)) {
            if (frame.kind == static_cast<std::uint32_t>(Request::quit)) return 0;
            const Reply reply = answer(frame);
            if (!send_frame(channel_, static_cast<std::uint32_t>(reply.status), reply.payload)) return 0;
        }
        return 0;
    }

private:
    Reply answer(Frame& frame) {
        try {
            Reader from(frame.payload);
            switch (static_cast<Request>(frame.kind)) {
                case Request::open: return open(from, frame);
                case Request::warm: return warm(from);
                case Request::compile: return compile(from);
                case Request::prepare: return prepare(from, frame);
                case Request::run: return run(from);
                case Request::sample: return sample(from);
                case Request::read: return read(from);
                case Request::intermediate: return intermediate(from);
                case Request::counts: return counts(from);
                case Request::quit: break;
            }
            throw ProtocolError("request " + std::to_string(frame.kind));
        } catch (const PlanError& error) {
            return refusal(Status::plan_error, error.what());
        } catch (const PipelineError& error) {
            return refusal(Status::pipeline_error, error.what());
        } catch (const DeviceUnavailable& error) {
            return refusal(Status::device_unavailable, error.what());
        } catch (const std::bad_alloc&) {
            return refusal(Status::out_of_memory, "out of memory");
        } catch (const Refused& error) {
            return refusal(Status::refused, error.what());
        } catch (const ExecutionError& error) {
            return refusal(Status::fault, error.what());
        } catch (const std::exception& error) {
            return refusal(Status::error, error.what());
        }
    }

    Reply open(Reader& from, Frame& frame) {
        const OpenRequest request = decode_open(from);
        if (device_ || frame.descriptors.size() != 1) throw ProtocolError("open");
        page_ = Mapping(frame.descriptors[0].get(), sizeof(StatusPage), Access::write);
        status_page = status_ = reinterpret_cast<StatusPage*>(page_.bytes().data());
#ifdef __linux__
        cpu::set_fault_sink(report_fault);
#endif
        compile_seconds_ = request.compile_seconds;
        compile_memory_bytes_ = request.compile_memory_bytes;
        toolchain_ = request.toolchain;
        device_name_ = request.device;
        device_ = open_device(request.device, toolchain_);
        return {};
    }

    // What the first compilation on a machine has to build isn't put down to the candidate's time.
    Reply warm(Reader& from) {
        [[maybe_unused]] const Math math = from.one_of(Math::precise);
        if (sealed_) throw Refused("this worker is sealed: compiling is over once a plan has been prepared");
        if (!device_) throw ProtocolError("warm before open");
#ifdef __linux__
        cap_commands({});
        if (device_name_ == "cpu") msl::build_library(toolchain_, math);
#endif
        return {};
    }

    Reply compile(Reader& from) {
        const CompileOptions options = decode_compile_options(from);
        const std::string_view source = from.text();
        cap_compilation();
        libraries_.push_back(device_->compile(source, options));
        runnable_.push_back(!options.check_only && libraries_.back()->report().compile_ok);
        Writer writer;
        writer.put(static_cast<std::uint32_t>(libraries_.size() - 1));
        encode(writer, libraries_.back()->report());
        return {Status::ok, writer.take()};
    }

    Reply intermediate(Reader& from) {
        const CompileOptions options = decode_compile_options(from);
        const std::string_view source = from.text();
        cap_compilation();
        Writer writer;
        encode(writer, device_->intermediate(source, options));
        return {Status::ok, writer.take()};
    }

    void cap_compilation() const {
        if (sealed_) throw Refused("this worker is sealed: compiling is over once a plan has been prepared");
        if (!device_) throw ProtocolError("compile before open");
        const auto allowed = std::chrono::duration<double>(compile_seconds_);
        cap_commands({std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(allowed),
                      compile_memory_bytes_});
    }

    Reply counts(Reader& from) {
        Library& library = *at(libraries_, from.get<std::uint32_t>(), "library");
        Writer writer;
        for (const std::uint64_t count : library.take_counts()) writer.put(count);
        return {Status::ok, writer.take()};
    }

    Reply prepare(Reader& from, Frame& frame) {
        const auto library = from.get<std::uint32_t>();
        RunOptions options;
        options.checked = from.flag();
        options.order_seed = from.get<std::uint64_t>();
        options.threads = from.get<std::uint32_t>();
        options.cold = from.flag();
        if (const auto shared = from.get<std::uint32_t>(); shared != no_execution) {
            options.shares = at(executions_, shared, "execution").execution.get();
        }
        const auto contents_bytes = from.get<std::uint64_t>();
        const auto outputs_bytes = from.get<std::uint64_t>();
        const Plan plan = decode_plan(from);
        if (frame.descriptors.size() != 2) throw ProtocolError("prepare without its memory");
        Library& chosen = *at(libraries_, library, "library");
        Prepared prepared;
        prepared.contents = Mapping(frame.descriptors[0].get(), contents_bytes, Access::read);
        prepared.outputs = Mapping(frame.descriptors[1].get(), outputs_bytes, Access::write);
        frame.descriptors.clear();
        seal();
        prepared.execution = chosen.prepare(plan, prepared.contents.bytes(), options, &status_->progress);
        executions_.push_back(std::move(prepared));
        Writer writer;
        writer.put(static_cast<std::uint32_t>(executions_.size() - 1));
        return {Status::ok, writer.take()};
    }

    // Nothing of the candidate's has run yet, and from here on it can reach nothing but memory and the channel.
    void seal() {
        if (sealed_) return;
        for (std::size_t i = 0; i < libraries_.size(); ++i) {
            if (runnable_[i]) libraries_[i]->load();
        }
        confine_self(channel_);
        sealed_ = true;
    }

    Reply run(Reader& from) {
        Prepared& prepared = at(executions_, from.get<std::uint32_t>(), "execution");
        if (from.flag()) prepared.execution->reset();
        const RunTime time = prepared.execution->run(1);
        last_run_ = Clock::now();
        Writer writer;
        writer.put(time.device_seconds);
        return {Status::ok, writer.take()};
    }

    Reply sample(Reader& from) {
        const SampleRequest request = decode_sample(from);
        std::vector<timing::Arm> arms;
        for (const auto& [number, repeats] : request.arms) {
            Execution* const execution = at(executions_, number, "execution").execution.get();
            arms.push_back({execution, repeats, request.each_from_reset});
        }
        std::vector<double> windows(timing::most_windows);
        std::vector<double> seconds(request.order.size());
        windows.resize(request.sentinel ? warm_up(arms[*request.sentinel], request.warm_up, windows) : 0);
        timing::take_samples(arms, request.order, seconds);
        last_run_ = Clock::now();
        Writer writer;
        writer.put(static_cast<std::uint64_t>(windows.size()));
        for (const double one : windows) writer.put(one);
        for (const double one : seconds) writer.put(one);
        return {Status::ok, writer.take()};
    }

    std::size_t warm_up(const timing::Arm& sentinel, const timing::WarmUp& how, std::span<double> windows) const {
        if (std::chrono::duration<double>(Clock::now() - last_run_).count() < how.idle_seconds) return 0;
        return timing::warm_up(sentinel, how, windows);
    }

    Reply read(Reader& from) {
        Prepared& prepared = at(executions_, from.get<std::uint32_t>(), "execution");
        const auto contents = prepared.execution->contents(from.get<std::uint32_t>());
        if (contents.size() > prepared.outputs.bytes().size()) throw ProtocolError("read of a buffer too large");
        std::ranges::copy(contents, prepared.outputs.bytes().begin());
        return {};
    }

    using Clock = std::chrono::steady_clock;

    int channel_;
    Mapping page_;
    StatusPage* status_ = nullptr;
    Toolchain toolchain_;
    std::string device_name_;
    double compile_seconds_ = 0.0;
    std::uint64_t compile_memory_bytes_ = 0;
    bool sealed_ = false;
    std::unique_ptr<Device> device_;
    // Executions refer to libraries, libraries to the device: destroyed in the opposite order.
    std::vector<std::unique_ptr<Library>> libraries_;
    std::vector<bool> runnable_;  // by library
    std::vector<Prepared> executions_;
    Clock::time_point last_run_{};
};

// A parent that is gone must not leave an endless kernel behind.
void exit_with_parent(int channel) {
    std::thread([channel] {
        for (;;) {
            pollfd end{channel, 0, 0};
            if (::poll(&end, 1, -1) > 0) ::_exit(0);
        }
    }).detach();
}

}  // namespace

int serve(int channel) noexcept {
    try {
        exit_with_parent(channel);
        static Server server(channel);  // never torn down: main ends the process without destructors
        return server.serve();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "kfp-worker: %s\n", error.what());
    } catch (...) {
        std::fprintf(stderr, "kfp-worker: unknown exception\n");
    }
    return 1;
}

}  // namespace kfp
