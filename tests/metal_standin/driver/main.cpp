// Runs one source and one plan through the Metal backend on the stand-in: standin_driver KEY=VALUE...
// What it found goes to stdout, a line each; the buffers go to files in the folder `out`. The exit status is that of
// the stage that refused: 2 compile, 3 pipeline, 4 plan, 5 execution, 6 device.
#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include "device/cpu/cpu.hpp"
#include "device/device.hpp"
#include "plan_file.hpp"
#include "standin.hpp"
#include "timing/sample_loop.hpp"

namespace {

class Arguments {
public:
    Arguments(int count, char** words) {
        for (int i = 1; i < count; ++i) {
            const std::string word = words[i];
            const auto equals = word.find('=');
            values_[word.substr(0, equals)] = equals == std::string::npos ? "1" : word.substr(equals + 1);
        }
    }

    std::string get(const std::string& key, const std::string& otherwise = {}) const {
        const auto found = values_.find(key);
        return found == values_.end() ? otherwise : found->second;
    }

private:
    std::map<std::string, std::string> values_;
};

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void configure(const Arguments& arguments) {
    standin::Configuration& configuration = standin::configuration();
    std::istringstream version(arguments.get("macos", "14.0"));
    char dot = '.';
    version >> configuration.macos.major >> dot >> configuration.macos.minor;
    configuration.device_name = arguments.get("device_name", configuration.device_name);
    configuration.has_device = arguments.get("has_device", "1") == "1";
    configuration.stamps = arguments.get("stamps", "1") == "1";
    configuration.failing_code = std::stol(arguments.get("failing_code", "0"));

    kfp::Toolchain toolchain;
    toolchain.clang = arguments.get("clang");
    toolchain.clang_is_zig = arguments.get("clang_is_zig") == "1";
    toolchain.msl_include = arguments.get("msl_include");
    toolchain.cache = arguments.get("cache");
    toolchain.sandbox = arguments.get("sandbox");
    if (!toolchain.clang.empty()) configuration.backing = kfp::cpu::open(toolchain);
}

void print(const kfp::DeviceInfo& info) {
    std::cout << "device " << info.available << ' ' << info.is_virtual << ' ' << info.description << '\n'
              << "driver " << info.driver << '\n'
              << "reason " << info.reason << '\n';
}

void print(const kfp::CompileReport& report) {
    for (const auto& [severity, line, column, message] : report.diagnostics) {
        std::cout << "diagnostic " << static_cast<int>(severity) << ' ' << line << ' ' << column << ' ' << message
                  << '\n';
    }
    for (const kfp::KernelInfo& kernel : report.kernels) {
        std::cout << "kernel " << kernel.name << ' ' << kernel.max_total_threads_per_threadgroup << ' '
                  << kernel.thread_execution_width << ' ' << kernel.static_threadgroup_memory_length << ' '
                  << kernel.pipeline_error << '\n';
        for (const kfp::Parameter& parameter : kernel.parameters) {
            std::cout << "parameter " << kernel.name << ' ' << static_cast<int>(parameter.kind) << ' '
                      << parameter.index << ' ' << parameter.name << ' ' << parameter.type << '\n';
        }
    }
}

void run(kfp::Library& library, const Arguments& arguments) {
    const kfp::Plan plan = kfp::read_plan(arguments.get("plan"));
    const std::string contents = read_file(arguments.get("contents"));
    kfp::RunOptions options;
    options.checked = arguments.get("checked") == "1";
    kfp::Progress progress;
    const auto execution = library.prepare(plan, std::as_bytes(std::span(contents)), options, &progress);
    const auto repeats = static_cast<std::uint32_t>(std::stoul(arguments.get("repeats", "1")));
    // Twice: the second run shows whether a reset puts everything back.
    for (int round = 0; round < 2; ++round) {
        execution->reset();
        const kfp::RunTime time = execution->run(repeats);
        std::cout << "run " << time.device_seconds << ' ' << time.start_ticks << ' ' << time.end_ticks << ' '
                  << progress.running << '\n';
    }
    for (std::uint32_t i = 0; i < plan.buffers.size(); ++i) {
        const auto bytes = execution->contents(i);
        std::ofstream(arguments.get("out") + "/" + std::to_string(i), std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
}

// Two executions over the same buffers, sampled as a comparison does it.
void sample(kfp::Library& library, const Arguments& arguments) {
    const kfp::Plan plan = kfp::read_plan(arguments.get("plan"));
    const std::string contents = read_file(arguments.get("contents"));
    kfp::RunOptions options;
    options.cold = arguments.get("cold") == "1";
    const auto bytes = std::as_bytes(std::span(contents));
    const auto reference = library.prepare(plan, bytes, options, nullptr);
    options.shares = reference.get();
    const auto candidate = library.prepare(plan, bytes, options, nullptr);
    const std::array<kfp::timing::Arm, 2> arms{{{reference.get(), 2, options.cold}, {candidate.get(), 2, options.cold}}};

    standin::Statistics& statistics = standin::statistics();
    const long buffers = statistics.buffers;
    const long pipelines = statistics.pipelines;
    statistics.most_queued = 0;
    constexpr std::array<std::uint32_t, 8> order{0, 1, 1, 0, 1, 0, 0, 1};
    std::array<double, order.size()> seconds{};
    kfp::timing::take_samples(arms, order, seconds);
    std::cout << "made " << statistics.buffers - buffers << ' ' << statistics.pipelines - pipelines << '\n'
              << "queued " << statistics.most_queued << '\n';
    for (const double one : seconds) std::cout << "sample " << one << '\n';
    std::cout << "same_memory " << (reference->contents(0).data() == candidate->contents(0).data()) << '\n';
}

int drive(const Arguments& arguments) {
    configure(arguments);
    for (const kfp::DeviceInfo& info : kfp::list_devices({})) {
        if (info.name == "metal") print(info);
    }
    const auto device = kfp::open_device("metal", {});
    kfp::CompileOptions options;
    options.math = arguments.get("math") == "precise" ? kfp::Math::precise : kfp::Math::fast;
    if (const std::string value = arguments.get("constant"); !value.empty()) {  // an int, at index 0
        const int number = std::stoi(value);
        const auto bytes = std::as_bytes(std::span(&number, 1));
        options.constants.push_back({0, {bytes.begin(), bytes.end()}});
    }
    const auto library = device->compile(read_file(arguments.get("source")), options);
    print(library->report());
    if (!library->report().compile_ok) return 2;
    if (arguments.get("sample") == "1") {
        sample(*library, arguments);
    } else if (!arguments.get("plan").empty()) {
        run(*library, arguments);
    }
    return 0;
}

int refused(int status, const std::exception& error) {
    std::cout << "refused " << error.what() << '\n';
    return status;
}

}  // namespace

int main(int count, char** words) {
    int status = 0;
    try {
        status = drive(Arguments(count, words));
    } catch (const kfp::PipelineError& error) {
        status = refused(3, error);
    } catch (const kfp::PlanError& error) {
        status = refused(4, error);
    } catch (const kfp::ExecutionError& error) {
        status = refused(5, error);
    } catch (const kfp::DeviceUnavailable& error) {
        status = refused(6, error);
    }
    standin::configuration().backing.reset();
    return status;
}
