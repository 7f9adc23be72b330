#include "device/cpu/execution.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "device/cpu/cache.hpp"
#include "device/cpu/machine.hpp"

namespace kfp::cpu {
namespace {

constexpr std::size_t reset_piece_bytes = std::size_t{1} << 20;
constexpr std::byte poison{0xFF};  // a NaN in every floating-point format, and a conspicuous integer
constexpr std::size_t threadgroup_argument_alignment = 64;

std::string quoted(const std::string& name) { return "'" + name + "'"; }

std::string wrote_outside_of(const std::string& what, const std::string& name, std::uint64_t bytes) {
    return " wrote just outside of " + what + " " + quoted(name) + ", which has " + std::to_string(bytes) + " bytes";
}

const Kernel& find_kernel(const std::vector<Kernel>& kernels, const std::string& name) {
    std::string present;
    for (const Kernel& kernel : kernels) {
        if (kernel.info.name == name) return kernel;
        present += (present.empty() ? "" : ", ") + quoted(kernel.info.name);
    }
    throw PipelineError("no kernel is called " + quoted(name) +
                        (present.empty() ? "; the source has none" : "; the source has " + present));
}

// Throws PipelineError about one dispatch, named by its number and kernel.
class DispatchChecker {
public:
    DispatchChecker(std::size_t number, const KernelInfo& kernel)
        : kernel_(kernel), where_("dispatch " + std::to_string(number) + " of kernel " + quoted(kernel.name) + ": ") {}

    void check_threads(const Dispatch& dispatch) const {
        const auto& shape = dispatch.threadgroup;
        const std::uint64_t threads = std::uint64_t{shape[0]} * shape[1] * shape[2];
        const std::uint64_t most = std::min(kernel_.max_total_threads_per_threadgroup, max_threads_per_threadgroup);
        if (threads > most) {
            fail("a threadgroup of " + std::to_string(threads) + " threads; the kernel allows " + std::to_string(most));
        }
    }

    void check_bindings(const Dispatch& dispatch) const {
        std::uint32_t buffers = 0;
        std::uint32_t threadgroups = 0;
        for (const Binding& binding : dispatch.bindings) {
            const bool is_threadgroup = std::holds_alternative<ThreadgroupBinding>(binding.value);
            (is_threadgroup ? threadgroups : buffers) |= std::uint32_t{1} << binding.index;
        }
        for (const Parameter& parameter : kernel_.parameters) {
            const bool is_buffer = parameter.kind == ParameterKind::buffer;
            if (!is_buffer && parameter.kind != ParameterKind::threadgroup) continue;
            if (((is_buffer ? buffers : threadgroups) >> parameter.index & 1) != 0) continue;
            const std::string attribute = is_buffer ? "[[buffer(" : "[[threadgroup(";
            fail("nothing is bound to parameter " + quoted(parameter.name) + " " + attribute +
                 std::to_string(parameter.index) + ")]]");
        }
    }

    void check_threadgroup_memory(std::uint64_t argument_bytes) const {
        const std::uint64_t own = kernel_.static_threadgroup_memory_length;
        if (own + argument_bytes <= max_threadgroup_memory) return;
        fail(std::to_string(own + argument_bytes) + " bytes of threadgroup memory (" + std::to_string(own) +
             " of the kernel's own, " + std::to_string(argument_bytes) + " of arguments); there are " +
             std::to_string(max_threadgroup_memory));
    }

private:
    [[noreturn]] void fail(const std::string& what) const { throw PipelineError(where_ + what); }

    const KernelInfo& kernel_;
    std::string where_;
};

void set_geometry(PreparedDispatch& prepared, const Dispatch& dispatch) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::uint32_t grid = dispatch.grid[axis];
        const std::uint32_t length = dispatch.threadgroup[axis];
        const std::uint32_t groups = grid / length + (grid % length != 0 ? 1 : 0);
        prepared.launch.threads_per_grid[axis] = grid;
        prepared.launch.dispatch_threads_per_threadgroup[axis] = length;
        prepared.launch.threads_per_threadgroup[axis] = std::min(length, grid);
        prepared.launch.threadgroups_per_grid[axis] = groups;
        prepared.threadgroups *= groups;
    }
}

void set_bindings(PreparedDispatch& prepared, const Plan& plan, std::size_t number, const BufferStore& buffers,
                  const Kernel& kernel) {
    const std::vector<Binding>& bindings = plan.dispatches[number].bindings;
    std::size_t threadgroup_bytes = round_up(kernel.threadgroup_extent, threadgroup_argument_alignment);
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        const std::uint32_t index = bindings[i].index;
        if (const auto* bound = std::get_if<BufferBinding>(&bindings[i].value)) {
            std::byte* const base = buffers.buffer(bound->buffer).data() + bound->offset;
            prepared.launch.buffers[index] = reinterpret_cast<char*>(base);
        } else if (std::holds_alternative<BytesBinding>(bindings[i].value)) {
            prepared.launch.buffers[index] = reinterpret_cast<char*>(buffers.bytes_binding(number, i));
        } else {
            const std::uint32_t bytes = std::get<ThreadgroupBinding>(bindings[i].value).bytes;
            prepared.threadgroup_arguments.push_back({index, threadgroup_bytes});
            threadgroup_bytes += bytes;
        }
    }
    prepared.threadgroup_bytes = threadgroup_bytes;
}

std::vector<PreparedDispatch> prepare_dispatches(const Plan& plan, const std::vector<Kernel>& kernels,
                                                 const BufferStore& buffers, bool checked) {
    std::vector<PreparedDispatch> prepared;
    prepared.reserve(plan.dispatches.size());
    for (std::size_t i = 0; i < plan.dispatches.size(); ++i) {
        const Dispatch& dispatch = plan.dispatches[i];
        const Kernel& kernel = find_kernel(kernels, plan.kernels[dispatch.kernel]);
        PreparedDispatch& next = prepared.emplace_back();
        next.thread_entry = kernel.thread_entry;
        next.group_entry = kernel.group_entry;
        next.threadgroup_variables = kernel.threadgroup_variables;
        // Without the function for a whole threadgroup only a checked run can call thread by thread on one stack.
        next.uses_fibers = kernel.synchronises || (kernel.group_entry == nullptr && !checked);
        set_geometry(next, dispatch);
        set_bindings(next, plan, i, buffers, kernel);
    }
    return prepared;
}

void require_pipelines(const Plan& plan, const std::vector<Kernel>& kernels) {
    for (const std::string& name : plan.kernels) {
        const KernelInfo& info = find_kernel(kernels, name).info;
        if (!info.pipeline_error.empty()) throw PipelineError("kernel " + quoted(name) + ": " + info.pipeline_error);
    }
    for (std::size_t i = 0; i < plan.dispatches.size(); ++i) {
        const Dispatch& dispatch = plan.dispatches[i];
        const DispatchChecker checker(i, find_kernel(kernels, plan.kernels[dispatch.kernel]).info);
        checker.check_threads(dispatch);
        checker.check_bindings(dispatch);
        std::uint64_t argument_bytes = 0;
        for (const Binding& binding : dispatch.bindings) {
            if (const auto* bound = std::get_if<ThreadgroupBinding>(&binding.value)) argument_bytes += bound->bytes;
        }
        checker.check_threadgroup_memory(argument_bytes);
    }
}

const Plan& checked_plan(const Plan& plan, const std::vector<Kernel>& kernels) {
    validate(plan);
    require_pipelines(plan, kernels);
    return plan;
}

DispatchMode mode_of(const RunOptions& options) {
    if (!options.checked) return {};
    const bool even = options.order_seed % 2 == 0;
    return {even ? BufferLayout::guarded_end : BufferLayout::guarded_start, options.order_seed};
}

const CpuExecution* shared_execution(const RunOptions& options) {
    if (options.shares == nullptr) return nullptr;
    const auto* const shared = dynamic_cast<const CpuExecution*>(options.shares);
    if (shared == nullptr) throw PlanError("an execution of another device has no buffers to share");
    return shared;
}

// One host thread makes a checked run the same every time: what differs between two seeds is the kernel's doing.
unsigned participants_of(const RunOptions& options, const HostThreads& threads) {
    if (options.threads == 0) return options.checked ? 1 : threads.count();
    return std::min(options.threads, threads.count());
}

}  // namespace

CpuExecution::CpuExecution(std::shared_ptr<const LoadedImage> image, std::shared_ptr<HostThreads> threads, const Plan& plan,
                           std::span<const std::byte> contents, const RunOptions& options, Progress* progress)
    : image_(std::move(image)),
      threads_(std::move(threads)),
      plan_(checked_plan(plan, image_->kernels)),
      mode_(mode_of(options)),
      buffers_(place_buffers(plan_, mode_.layout, shared_execution(options))),
      dispatches_(prepare_dispatches(plan_, image_->kernels, *buffers_, options.checked)),
      participants_(participants_of(options, *threads_)),
      cold_(options.cold),
      progress_(progress) {
    if (const CpuExecution* const shared = shared_execution(options)) {
        reset_pieces_ = shared->reset_pieces_;
    } else {
        list_reset_pieces(contents);
    }
    for (std::size_t i = 0; i < dispatches_.size(); ++i) {
        const PreparedDispatch& dispatch = dispatches_[i];
        threads_->reserve_threadgroup_memory(dispatch.threadgroup_bytes);
        if (!options.checked) threadgroup_margins_.add(plan_.kernels[plan_.dispatches[i].kernel], dispatch.threadgroup_variables);
        if (!dispatch.uses_fibers) continue;
        participants_ = threads_->reserve_fibers(dispatch.threads_per_threadgroup(), participants_);
    }
    under_way_.plan = &plan_;
    under_way_.buffers = buffers_.get();
    under_way_.image = &image_->image;
    under_way_.checked = mode_.order_seed.has_value();
}

std::shared_ptr<const BufferStore> CpuExecution::place_buffers(const Plan& plan, BufferLayout layout,
                                                               const CpuExecution* shared) {
    if (shared == nullptr) return std::make_shared<const BufferStore>(plan, layout);
    require_same_buffers(plan, shared->plan_);
    if (layout != shared->mode_.layout) throw PlanError("a checked run shares buffers only with its like");
    return std::make_shared<const BufferStore>(plan, layout, shared->buffers_);
}

void CpuExecution::list_reset_pieces(std::span<const std::byte> contents) {
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
        const BufferSpec& spec = plan_.buffers[i];
        const bool has_contents = spec.role == BufferRole::input || spec.role == BufferRole::state;
        if (has_contents && spec.contents_offset + spec.bytes > contents.size()) {
            throw PlanError("plan: buffer " + std::to_string(i) + " (" + quoted(spec.name) + "): its initial content ends at byte " +
                            std::to_string(spec.contents_offset + spec.bytes) + " of a contents region of " +
                            std::to_string(contents.size()));
        }
        const std::span<std::byte> buffer = buffers_->buffer(static_cast<std::uint32_t>(i));
        for (std::size_t done = 0; done < buffer.size(); done += reset_piece_bytes) {
            const std::byte* const source = has_contents ? contents.data() + spec.contents_offset + done : nullptr;
            reset_pieces_.push_back({buffer.data() + done, source, std::min(reset_piece_bytes, buffer.size() - done)});
        }
    }
}

struct CpuExecution::ResetWork {
    const std::vector<ResetPiece>& pieces;
    std::atomic<std::size_t> next{0};

    static void evict(void* context, HostThread&) {
        auto& self = *static_cast<ResetWork*>(context);
        for (std::size_t i; (i = self.next.fetch_add(1, std::memory_order_relaxed)) < self.pieces.size();) {
            evict_from_caches({self.pieces[i].target, self.pieces[i].bytes});
        }
    }

    static void work(void* context, HostThread&) {
        auto& self = *static_cast<ResetWork*>(context);
        for (std::size_t i; (i = self.next.fetch_add(1, std::memory_order_relaxed)) < self.pieces.size();) {
            const ResetPiece& piece = self.pieces[i];
            if (piece.source != nullptr) {
                std::memcpy(piece.target, piece.source, piece.bytes);
            } else {
                std::memset(piece.target, std::to_integer<int>(poison), piece.bytes);
            }
        }
    }
};

void CpuExecution::reset() {
    buffers_->clear_margins();
    ResetWork work{reset_pieces_};
    threads_->run(&ResetWork::work, &work, participants_);
    if (cold_) evict();
}

// After the reset as a whole: a piece that one thread has evicted could be read again beside another.
void CpuExecution::evict() {
    ResetWork work{reset_pieces_};
    threads_->run(&ResetWork::evict, &work, participants_);
}

RunTime CpuExecution::run(std::uint32_t repeats) {
    install_fault_stack();
    const FaultScope fault_scope(under_way_);
    const bool checked = mode_.order_seed.has_value();
    Progress unread;
    Progress& progress = progress_ != nullptr ? *progress_ : unread;
    std::atomic_ref<std::uint32_t>(progress.running).store(1, std::memory_order_relaxed);
    if (participants_ > 1) threads_->wake();
    if (!threadgroup_margins_.empty()) {
        for (unsigned i = 0; i < participants_; ++i) threadgroup_margins_.fill(threadgroup_memory(i));
    }

    RunTime time;
    time.start_ticks = clock_ticks();
    for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
        for (std::uint32_t i = 0; i < dispatches_.size(); ++i) {
            under_way_.dispatch.store(i, std::memory_order_relaxed);
            std::atomic_ref<std::uint32_t>(progress.dispatch).store(i, std::memory_order_relaxed);
            std::atomic_ref<std::uint32_t>(progress.kernel).store(plan_.dispatches[i].kernel, std::memory_order_relaxed);
            run_dispatch(dispatches_[i], mode_, *threads_, participants_);
            if (checked) require_intact_margins();
        }
    }
    time.end_ticks = clock_ticks();
    time.device_seconds = static_cast<double>(time.end_ticks - time.start_ticks) * seconds_per_tick;
    std::atomic_ref<std::uint32_t>(progress.running).store(0, std::memory_order_relaxed);
    require_intact_threadgroup_margins();
    return time;
}

void CpuExecution::require_intact_margins() const {
    const std::uint32_t dispatch = under_way_.dispatch.load(std::memory_order_relaxed);
    const std::string kernel = "kernel " + quoted(plan_.kernels[plan_.dispatches[dispatch].kernel]) + " (dispatch " +
                               std::to_string(dispatch) + ")";
    const ThreadgroupAllocation* overrun = nullptr;
    for (unsigned i = 0; i < participants_; ++i) {
        if (const auto* const found = std::exchange((*threads_)[i].overrun, nullptr)) overrun = found;
    }
    if (overrun != nullptr) throw ExecutionError(kernel + wrote_outside_of("threadgroup variable", overrun->name, overrun->bytes));
    if (const PlacedBlock* const damaged = buffers_->damaged_margin()) {
        throw ExecutionError(kernel + wrote_outside_of("buffer", plan_.buffers[damaged->buffer].name, damaged->bytes));
    }
}

void CpuExecution::require_intact_threadgroup_margins() const {
    for (unsigned i = 0; i < participants_; ++i) {
        const ThreadgroupMargins::Place* const damaged = threadgroup_margins_.damaged(threadgroup_memory(i));
        if (damaged == nullptr) continue;
        std::string kernels = damaged->kernels.size() == 1 ? "kernel " : "one of the kernels ";
        for (const std::string& kernel : damaged->kernels) kernels += (&kernel == damaged->kernels.data() ? "" : ", ") + quoted(kernel);
        throw ExecutionError(kernels + wrote_outside_of("threadgroup variable", damaged->longest.name, damaged->longest.bytes));
    }
}

std::byte* CpuExecution::threadgroup_memory(unsigned thread) const {
    return (*threads_)[thread].threadgroup_memory.base(BufferLayout::spacious, 0);
}

std::span<const std::byte> CpuExecution::contents(std::uint32_t buffer) const { return buffers_->buffer(buffer); }

}  // namespace kfp::cpu
