// A device whose one kernel, `count_up`, is written here: breaking Metal's rules needs no compiler.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "device/device.hpp"

namespace kfp {

class FixedExecution final : public Execution {
public:
    FixedExecution(const Plan& plan, std::span<const std::byte> contents) {
        for (const BufferSpec& buffer : plan.buffers) {
            const auto initial = contents.subspan(buffer.contents_offset, buffer.bytes);
            buffers_.emplace_back(initial.begin(), initial.end());
        }
    }

    void reset() override {}

    // count_up adds its position to every word of buffer 0.
    RunTime run(std::uint32_t) override {
        std::vector<std::byte>& words = buffers_.at(0);
        for (std::uint32_t i = 0; i < words.size() / sizeof i; ++i) {
            std::uint32_t word = 0;
            std::memcpy(&word, &words[i * sizeof i], sizeof word);
            word += i;
            std::memcpy(&words[i * sizeof i], &word, sizeof word);
        }
        return {};
    }

    std::span<const std::byte> contents(std::uint32_t buffer) const override { return buffers_.at(buffer); }

private:
    std::vector<std::vector<std::byte>> buffers_;
};

class FixedLibrary final : public Library {
public:
    FixedLibrary() {
        report_.compile_ok = true;
        KernelInfo kernel;
        kernel.name = "count_up";
        kernel.parameters.push_back({"words", "device uint*", ParameterKind::buffer, 0, ""});
        report_.kernels.push_back(kernel);
    }

    const CompileReport& report() const override { return report_; }
    std::unique_ptr<Execution> prepare(const Plan& plan, std::span<const std::byte> contents, const RunOptions&,
                                       Progress*) override {
        return std::make_unique<FixedExecution>(plan, contents);
    }

private:
    CompileReport report_;
};

class FixedDevice final : public Device {
public:
    const DeviceInfo& info() const override { return info_; }
    std::unique_ptr<Library> compile(std::string_view, const CompileOptions&) override {
        return std::make_unique<FixedLibrary>();
    }

private:
    DeviceInfo info_;
};

}  // namespace kfp
