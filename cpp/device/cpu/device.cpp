#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "device/cpu/cpu.hpp"
#include "device/cpu/execution.hpp"
#include "device/cpu/machine.hpp"
#include "msl/compile.hpp"
#include "msl/target.hpp"
#include "worker/confine.hpp"

namespace kfp::cpu {
namespace {

namespace fs = std::filesystem;

// Gone, with all that is in it, at the end of the scope.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = (fs::temp_directory_path() / "kfp-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw ExecutionError("cpu: can't make a temporary folder like " + pattern + ": " +
                                 std::generic_category().message(errno));
        }
        path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

std::vector<std::byte> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) throw ExecutionError("cpu: can't read the compiled image " + path);
    const auto* const first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

template <typename Entry>
Entry entry_point(const Image& image, const std::string& name) {
    void* const address = image.symbol(name);
    if (address == nullptr) throw ExecutionError("compiled image: exports no function " + name);
    return reinterpret_cast<Entry>(address);
}

std::shared_ptr<const LoadedImage> load_image(std::span<const std::byte> file, const msl::Compiled& compiled, std::uint32_t counters) {
    Image image(file);
    auto counting = std::make_unique<Counting>(runtime(), counters);
    image.seal_with_pointer("__kfp_runtime", &counting->runtime);
    std::vector<Kernel> kernels;
    for (std::size_t i = 0; i < compiled.report.kernels.size(); ++i) {
        const std::string number = std::to_string(i);
        Kernel& kernel = kernels.emplace_back();
        kernel.info = compiled.report.kernels[i];
        if (!kernel.info.pipeline_error.empty()) continue;
        kernel.synchronises = compiled.kernels[i].synchronises;
        kernel.threadgroup_extent = compiled.kernels[i].threadgroup_extent;
        kernel.threadgroup_variables = compiled.kernels[i].threadgroup_variables;
        kernel.group_entry = reinterpret_cast<GroupEntry>(image.symbol("__kfp_group_" + number));
        if (kernel.group_entry == nullptr) kernel.thread_entry = entry_point<ThreadEntry>(image, "__kfp_thread_" + number);
    }
    return std::make_shared<const LoadedImage>(LoadedImage{std::move(image), std::move(kernels), std::move(counting)});
}

// The host threads are shared by all libraries of a device and start with the first that is loaded.
class SharedThreads {
public:
    std::shared_ptr<HostThreads> get() {
        const std::scoped_lock lock(mutex_);
        if (threads_ == nullptr) threads_ = std::make_shared<HostThreads>(usable_cores());
        return threads_;
    }

private:
    std::mutex mutex_;
    std::shared_ptr<HostThreads> threads_;
};

class CpuLibrary final : public Library {
public:
    CpuLibrary(msl::Compiled compiled, std::vector<std::byte> file, std::uint32_t counters, std::shared_ptr<SharedThreads> threads)
        : compiled_(std::move(compiled)), file_(std::move(file)), counters_(counters), shared_threads_(std::move(threads)) {}

    const CompileReport& report() const override { return compiled_.report; }

    void load() override {
        if (image_ != nullptr) return;
        if (file_.empty()) throw PipelineError("this library was compiled for a check only, or has errors: it can't be run");
        image_ = load_image(file_, compiled_, counters_);
        threads_ = shared_threads_->get();
        install_fault_stack();
    }

    std::unique_ptr<Execution> prepare(const Plan& plan, std::span<const std::byte> contents, const RunOptions& options,
                                       Progress* progress) override {
        load();
        for (const Kernel& kernel : image_->kernels) {
            if (options.checked && kernel.group_entry != nullptr) {
                throw PipelineError("kernel '" + kernel.info.name + "' was not compiled for a checked run");
            }
        }
        return std::make_unique<CpuExecution>(image_, threads_, plan, contents, options, progress);
    }

    std::vector<std::uint64_t> take_counts() override {
        return image_ == nullptr ? std::vector<std::uint64_t>(counters_) : image_->counting->take();
    }

private:
    msl::Compiled compiled_;
    std::vector<std::byte> file_;
    std::uint32_t counters_;
    std::shared_ptr<SharedThreads> shared_threads_;
    std::shared_ptr<const LoadedImage> image_;
    std::shared_ptr<HostThreads> threads_;
};

// "clang version 22.1.8", from what the compiler says of itself; the file's identity where it says nothing of the kind.
std::string compiler_version(const Toolchain& toolchain) {
    Command command;
    command.argv = {toolchain.clang};
    if (toolchain.clang_is_zig) command.argv.push_back("clang");
    command.argv.push_back("--version");
    command.readable = {fs::path(toolchain.clang).parent_path().string()};
    if (!toolchain.clang_is_zig) command.readable.insert(command.readable.end(), {"/usr/lib", "/lib", "/usr/lib64", "/lib64"});
    const std::string said = run_confined(command).out;
    constexpr std::string_view word = "clang version ";
    if (const std::size_t begin = said.find(word); begin != std::string::npos) {
        return said.substr(begin, said.find_first_of(" \n", begin + word.size()) - begin);
    }
    std::error_code ignored;
    return "compiler of " + std::to_string(fs::file_size(toolchain.clang, ignored)) + " bytes";
}

std::string code_target() {
    const std::vector<std::string> arguments = msl::host_target_arguments();
    const auto option = std::find(arguments.begin(), arguments.end(), "-target-cpu");
    return option == arguments.end() || option + 1 == arguments.end() ? "unknown processor" : *(option + 1);
}

// Asking the compiler takes a process: once, and not where nobody wants to know, such as in a worker.
std::string driver_of(const Toolchain& toolchain) {
    static std::mutex mutex;
    static std::map<std::string, std::string> known;
    const std::scoped_lock lock(mutex);
    std::string& driver = known[toolchain.clang];
    if (driver.empty()) {
        driver = compiler_version(toolchain) + ", " + code_target() + ", ABI " + std::to_string(KFP_ABI_VERSION) + ", library " +
                 msl::library_digest(toolchain);
    }
    return driver;
}

class CpuDevice final : public Device {
public:
    CpuDevice(DeviceInfo info, Toolchain toolchain) : info_(std::move(info)), toolchain_(std::move(toolchain)) {}

    const DeviceInfo& info() const override {
        std::call_once(driver_known_, [this] { info_.driver = driver_of(toolchain_); });
        return info_;
    }

    std::unique_ptr<Library> compile(std::string_view source, const CompileOptions& options) override {
        const TemporaryFolder folder;
        msl::Compiled compiled = msl::compile(source, options, toolchain_, folder.path());
        std::vector<std::byte> file;
        if (!compiled.image.empty()) file = read_file(compiled.image);
        return std::make_unique<CpuLibrary>(std::move(compiled), std::move(file), options.counters, threads_);
    }

    Intermediate intermediate(std::string_view source, const CompileOptions& options) override {
        const TemporaryFolder folder;
        return msl::intermediate(source, options, toolchain_, folder.path());
    }

private:
    mutable std::once_flag driver_known_;
    mutable DeviceInfo info_;
    Toolchain toolchain_;
    std::shared_ptr<SharedThreads> threads_ = std::make_shared<SharedThreads>();
};

std::string why_unavailable(const Toolchain& toolchain) {
    if (toolchain.clang.empty()) return "no compiler: install the package ziglang, or name a clang in KFP_CLANG";
    if (::access(toolchain.clang.c_str(), X_OK) != 0) {
        return "the compiler " + toolchain.clang + " can't be executed: " + std::generic_category().message(errno);
    }
    std::error_code error;
    if (!fs::is_directory(toolchain.msl_include, error)) {
        const std::string why = error ? ": " + error.message() : std::string();
        return "its Metal headers are missing from " + toolchain.msl_include + why;
    }
    return {};
}

DeviceInfo describe_without_driver(const Toolchain& toolchain) {
    DeviceInfo info;
    info.name = "cpu";
    info.description = describe_machine();
    info.reason = why_unavailable(toolchain);
    info.available = info.reason.empty();
    info.tick_seconds = measured_clock_resolution();
    info.max_threads_per_threadgroup = max_threads_per_threadgroup;
    info.thread_execution_width = simd_width;
    info.max_threadgroup_memory_length = max_threadgroup_memory;
    return info;
}

}  // namespace

DeviceInfo describe(const Toolchain& toolchain) {
    DeviceInfo info = describe_without_driver(toolchain);
    try {
        if (info.available) info.driver = driver_of(toolchain);
    } catch (const std::exception& error) {
        info.available = false;
        info.reason = std::string("the compiler can't be run: ") + error.what();
    }
    return info;
}

std::unique_ptr<Device> open(const Toolchain& toolchain) {
    DeviceInfo info = describe_without_driver(toolchain);
    if (!info.available) throw DeviceUnavailable("cpu: " + info.reason);
    return std::make_unique<CpuDevice>(std::move(info), toolchain);
}

}  // namespace kfp::cpu
