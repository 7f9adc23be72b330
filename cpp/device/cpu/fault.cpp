#include "device/cpu/fault.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>

#include "device/cpu/division.hpp"
#include "device/cpu/host_threads.hpp"

namespace kfp::cpu {
namespace {

constexpr std::array handled_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
constexpr std::size_t fault_stack_bytes = std::size_t{64} << 10;
constexpr std::uintptr_t null_zone = 65536;

std::atomic<const RunUnderWay*> run_under_way{nullptr};
std::atomic<FaultSink> fault_sink{nullptr};
std::array<struct sigaction, handled_signals.size()> former_actions;

// snprintf is not async-signal-safe.
class Message {
public:
    Message& operator<<(std::string_view text) {
        const std::size_t length = std::min(text.size(), text_.size() - 1 - used_);
        std::memcpy(text_.data() + used_, text.data(), length);
        used_ += length;
        return *this;
    }
    Message& operator<<(std::uint64_t number) {
        std::array<char, 20> digits;
        std::size_t first = digits.size();
        do {
            digits[--first] = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number != 0);
        return *this << std::string_view(digits.data() + first, digits.size() - first);
    }
    Message& operator<<(std::int64_t number) {
        if (number < 0) *this << "-";
        return *this << (number < 0 ? -static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number));
    }
    Message& address(const void* pointer) {
        std::array<char, 16> digits;
        std::size_t first = digits.size();
        auto number = reinterpret_cast<std::uintptr_t>(pointer);
        do {
            digits[--first] = "0123456789abcdef"[number % 16];
            number /= 16;
        } while (number != 0);
        return *this << "0x" << std::string_view(digits.data() + first, digits.size() - first);
    }
    Message& operator<<(const Extent& at) {
        return *this << "(" << std::uint64_t{at[0]} << ", " << std::uint64_t{at[1]} << ", " << std::uint64_t{at[2]} << ")";
    }
    const char* text() const { return text_.data(); }

private:
    std::array<char, 640> text_{};
    std::size_t used_ = 0;
};

enum class Access { unknown, read, write, execute };

Access access_of(const siginfo_t& info, const ucontext_t& context) {
#if defined(__x86_64__)
    constexpr greg_t write_bit = 2;
    constexpr greg_t fetch_bit = 16;
    const auto* const address = static_cast<const char*>(info.si_addr);
    if (reinterpret_cast<greg_t>(address) == context.uc_mcontext.gregs[REG_RIP]) return Access::execute;
    const greg_t error = context.uc_mcontext.gregs[REG_ERR];
    if ((error & fetch_bit) != 0) return Access::execute;
    return (error & write_bit) != 0 ? Access::write : Access::read;
#else
    if (reinterpret_cast<std::uint64_t>(info.si_addr) == context.uc_mcontext.pc) return Access::execute;
    // The kernel's records follow one another, each with a magic number and its size; a zero ends them.
    constexpr std::uint32_t esr_magic = 0x45535201;
    constexpr std::uint64_t write_not_read = 1U << 6;
    const auto* record = reinterpret_cast<const unsigned char*>(context.uc_mcontext.__reserved);
    for (;;) {
        struct {
            std::uint32_t magic;
            std::uint32_t size;
        } head;
        std::memcpy(&head, record, sizeof head);
        if (head.magic == 0 || head.size == 0) return Access::unknown;
        if (head.magic == esr_magic) {
            std::uint64_t syndrome;
            std::memcpy(&syndrome, record + sizeof head, sizeof syndrome);
            return (syndrome & write_not_read) != 0 ? Access::write : Access::read;
        }
        record += head.size;
    }
#endif
}

std::string_view verb(Access access) {
    switch (access) {
        case Access::read: return "read from ";
        case Access::write: return "wrote to ";
        case Access::execute: return "jumped to ";
        case Access::unknown: break;
    }
    return "read from or wrote to ";
}

void describe_buffer(Message& message, const PlacedBlock& block, const void* address, Access access, const Plan& plan,
                     const Dispatch& dispatch) {
    const std::int64_t offset = static_cast<const std::byte*>(address) - block.base;
    message << verb(access);
    if (block.buffer == PlacedBlock::not_a_buffer) {
        const bool inside = address >= block.accessible_begin && address < block.accessible_end;
        message << (inside ? "the read-only content of a bytes binding" : "memory beyond the content of a bytes binding");
        return;
    }
    for (const Binding& binding : dispatch.bindings) {
        const auto* bound = std::get_if<BufferBinding>(&binding.value);
        if (bound == nullptr || bound->buffer != block.buffer) continue;
        message << "buffer " << std::uint64_t{binding.index};
        message << " ('" << plan.buffers[block.buffer].name << "') at byte " << offset;
        message << ", outside of its " << std::uint64_t{block.bytes} << " bytes";
        return;
    }
    message << "memory next to buffer '" << plan.buffers[block.buffer].name << "', which this dispatch doesn't bind";
}

// A 32-bit index that went below zero leads 4 Gi elements beyond: true, with `message` complete, if that explains `address`.
bool describe_wrapped_index(Message& message, const void* address, Access access, const RunUnderWay& run, const Dispatch& dispatch) {
    constexpr std::int64_t furthest = std::int64_t{1} << 24;
    for (const Binding& binding : dispatch.bindings) {
        const auto* bound = std::get_if<BufferBinding>(&binding.value);
        if (bound == nullptr) continue;
        const std::int64_t offset = static_cast<const std::byte*>(address) - run.buffers->buffer(bound->buffer).data();
        for (const unsigned element : {1U, 2U, 4U, 8U, 16U}) {
            const std::int64_t wrapped = offset - (std::int64_t{element} << 32);
            if (wrapped >= 0 || wrapped < -furthest) continue;
            const BufferSpec& buffer = run.plan->buffers[bound->buffer];
            message << verb(access) << "buffer " << std::uint64_t{binding.index} << " ('" << buffer.name << "') at byte " << offset;
            message << ", outside of its " << std::uint64_t{buffer.bytes} << " bytes: perhaps an unsigned index that went below zero";
            return true;
        }
    }
    return false;
}

void describe_access(Message& message, const void* address, Access access, const RunUnderWay& run, const HostThread* thread,
                     const Dispatch& dispatch) {
    if (thread != nullptr && (thread->fibers.stacks().is_guard(address) || thread->plain_stack.is_guard(address))) {
        message << "overflowed its stack: endless recursion, or more thread-private memory than this device has (";
        message << std::uint64_t{FiberStacks::stack_bytes >> 10} << " KiB a thread)";
        return;
    }
    if (const PlacedBlock* block = run.buffers->zone_of(address)) {
        return describe_buffer(message, *block, address, access, *run.plan, dispatch);
    }
    if (thread != nullptr && thread->threadgroup_memory.zone_contains(address)) {
        const auto* const base = reinterpret_cast<const std::byte*>(thread->launch.threadgroup_memory);
        const std::int64_t offset = static_cast<const std::byte*>(address) - base;
        message << verb(access) << "threadgroup memory at byte " << offset << ", outside of the threadgroup's allocation";
        return;
    }
    if (run.image->contains(address)) {
        message << verb(access) << (access == Access::execute ? "data as code" : "its own code or constants");
        return;
    }
    if (reinterpret_cast<std::uintptr_t>(address) < null_zone) {
        message << verb(access) << "a null pointer (address ";
        message.address(address) << ")";
        return;
    }
    if (describe_wrapped_index(message, address, access, run, dispatch)) return;
    message << verb(access) << "a wild pointer (address ";
    message.address(address) << ")";
}

void describe(Message& message, int signal, const siginfo_t& info, const ucontext_t& context, const RunUnderWay& run,
              const HostThread* thread, const Dispatch& dispatch) {
    switch (signal) {
        case SIGFPE:
            message << "divided an integer by zero, or the most negative integer by -1";
            return;
        case SIGILL:
        case SIGTRAP:
            message << "ran into a trap: code that the compiler found to have undefined behaviour";
            return;
        default: break;
    }
    if (info.si_code == SI_KERNEL) {  // the address is no address at all, and the processor doesn't say which
        message << "used a wild pointer (not a possible address)";
        return;
    }
    describe_access(message, info.si_addr, access_of(info, context), run, thread, dispatch);
}

void handle(int signal, siginfo_t* info, void* context) {
    const RunUnderWay* const run = run_under_way.load();
    const FaultSink sink = fault_sink.load();
    auto& machine_context = *static_cast<ucontext_t*>(context);
    if (run != nullptr && !run->checked && signal == SIGFPE && run->image->contains(info->si_addr) &&
        complete_division(machine_context)) {
        return;
    }
    if (run != nullptr && sink != nullptr) {
        const std::uint32_t number = run->dispatch.load(std::memory_order_relaxed);
        const Dispatch& dispatch = run->plan->dispatches[number];
        const HostThread* const thread = HostThread::current();
        Message message;
        message << "kernel '" << run->plan->kernels[dispatch.kernel] << "' ";
        describe(message, signal, *info, machine_context, *run, thread, dispatch);
        if (thread != nullptr) {
            const auto& group = thread->launch.threadgroup_position_in_grid;
            message << " (threadgroup " << Extent{group[0], group[1], group[2]};
            if (thread->uses_fibers) message << ", thread " << thread->fibers.running_thread();
            message << ")";
        }
        sink(message.text(), number, dispatch.kernel);
    }
    // Nobody to tell: on return the instruction faults again, and the default action ends the process.
    ::signal(signal, SIG_DFL);
}

// Belongs to its thread; one that is there already (a sanitizer's) is left in place.
class FaultStack {
public:
    FaultStack() {
        stack_t present{};
        if (::sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0) return;
        mapping_ = Mapping(fault_stack_bytes);
        mapping_.make_writable(mapping_.begin(), fault_stack_bytes);
        stack_t mine{};
        mine.ss_sp = mapping_.begin();
        mine.ss_size = fault_stack_bytes;
        ::sigaltstack(&mine, nullptr);
    }
    ~FaultStack() {
        if (mapping_.begin() == nullptr) return;
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        ::sigaltstack(&none, nullptr);
    }
    FaultStack(const FaultStack&) = delete;
    FaultStack& operator=(const FaultStack&) = delete;

private:
    Mapping mapping_;
};

}  // namespace

void set_fault_sink(FaultSink sink) {
    const FaultSink former = fault_sink.exchange(sink);
    if ((former == nullptr) == (sink == nullptr)) return;
    for (std::size_t i = 0; i < handled_signals.size(); ++i) {
        if (sink == nullptr) {
            ::sigaction(handled_signals[i], &former_actions[i], nullptr);
            continue;
        }
        struct sigaction action {};
        action.sa_sigaction = &handle;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        ::sigemptyset(&action.sa_mask);
        ::sigaction(handled_signals[i], &action, &former_actions[i]);
    }
}

void install_fault_stack() { static thread_local const FaultStack stack; }

FaultScope::FaultScope(const RunUnderWay& run) { run_under_way.store(&run); }
FaultScope::~FaultScope() { run_under_way.store(nullptr); }

}  // namespace kfp::cpu
