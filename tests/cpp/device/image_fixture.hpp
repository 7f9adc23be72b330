// Runs the kernels of image.c on the software device, without a compiler.
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "device/cpu/execution.hpp"

namespace kfp::test {

constexpr bool synchronises[] = {false, true, true, true, true, false, false, true, false, false, false, true, true};

inline std::vector<std::byte> file_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto* const first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

// Kernel 1 writes a word a thread to the start of its threadgroup memory; `variables` say what is declared there.
inline std::shared_ptr<const cpu::LoadedImage> load_image(const std::string& path,
                                                          const std::vector<cpu::ThreadgroupAllocation>& variables) {
    cpu::Image image(file_bytes(path));
    image.seal_with_pointer("__kfp_runtime", &cpu::runtime());
    std::vector<cpu::Kernel> kernels;
    for (std::size_t i = 0; i < std::size(synchronises); ++i) {
        cpu::Kernel& kernel = kernels.emplace_back();
        kernel.info.name = "k" + std::to_string(i);
        kernel.thread_entry = reinterpret_cast<cpu::ThreadEntry>(image.symbol("__kfp_thread_" + std::to_string(i)));
        kernel.synchronises = synchronises[i];
        if (!synchronises[i]) {
            kernel.group_entry = reinterpret_cast<cpu::GroupEntry>(image.symbol("__kfp_group_" + std::to_string(i)));
        }
    }
    for (const auto& [number, bytes] : {std::pair{1U, 4096U}, {6U, 64U}, {7U, 64U}, {9U, 64U}}) {
        kernels[number].info.static_threadgroup_memory_length = bytes;
        kernels[number].threadgroup_extent = bytes;
    }
    kernels[1].threadgroup_variables = variables;
    return std::make_shared<const cpu::LoadedImage>(cpu::LoadedImage{std::move(image), std::move(kernels)});
}

// A plan of one dispatch of kernel `number`: buffer 0 is an output of `words` words, [[threadgroup(0)]] has 4 KiB.
inline Plan one_dispatch(unsigned number, std::size_t words, cpu::Extent grid, cpu::Extent threadgroup) {
    Plan plan;
    plan.kernels = {"k" + std::to_string(number)};
    plan.buffers = {{"out", words * 4, BufferRole::output, 0}};
    plan.dispatches = {{0, {{0, BufferBinding{0, 0}}, {0, ThreadgroupBinding{4096}}}, grid, threadgroup}};
    return plan;
}

inline BytesBinding word(std::uint32_t value) {
    BytesBinding binding;
    binding.bytes.resize(sizeof value);
    std::memcpy(binding.bytes.data(), &value, sizeof value);
    return binding;
}

inline std::vector<std::uint32_t> words_of(const Execution& execution, std::uint32_t buffer) {
    const std::span<const std::byte> bytes = execution.contents(buffer);
    std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint32_t));
    return words;
}

class Fixture {
public:
    Fixture(const std::string& path, unsigned host_threads, const std::vector<cpu::ThreadgroupAllocation>& variables = {})
        : image_(load_image(path, variables)), threads_(std::make_shared<cpu::HostThreads>(host_threads)) {}

    std::unique_ptr<cpu::CpuExecution> prepare(const Plan& plan, const RunOptions& options = {},
                                               std::span<const std::byte> contents = {}, Progress* progress = nullptr) const {
        return std::make_unique<cpu::CpuExecution>(image_, threads_, plan, contents, options, progress);
    }
    std::vector<std::uint32_t> run(const Plan& plan, const RunOptions& options = {}) const {
        const auto execution = prepare(plan, options);
        execution->reset();
        execution->run(1);
        return words_of(*execution, 0);
    }

private:
    std::shared_ptr<const cpu::LoadedImage> image_;
    std::shared_ptr<cpu::HostThreads> threads_;
};

}  // namespace kfp::test
