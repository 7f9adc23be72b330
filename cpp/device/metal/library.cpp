#include "device/metal/library.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "device/metal/availability.hpp"
#include "device/metal/diagnostics.hpp"
#include "device/metal/execution.hpp"
#include "device/metal/objects.hpp"
#include "device/metal/pipeline.hpp"

namespace kfp::metal {
namespace {

class MetalLibrary final : public Library {
public:
    MetalLibrary(std::shared_ptr<const Context> context, CompileReport report,
                 std::shared_ptr<const std::vector<Pipeline>> pipelines)
        : context_(std::move(context)), report_(std::move(report)), pipelines_(std::move(pipelines)) {}

    const CompileReport& report() const override { return report_; }

    std::unique_ptr<Execution> prepare(const Plan& plan, std::span<const std::byte> contents, const RunOptions& options,
                                       Progress* progress) override {
        if (options.checked) throw DeviceUnavailable("metal: the checked mode runs on the cpu device only");
        if (!report_.compile_ok) throw PipelineError("metal: the source did not compile");
        const AutoreleaseScope scope;
        return make_execution(context_, pipelines_, plan, contents, options, progress);
    }

private:
    std::shared_ptr<const Context> context_;
    CompileReport report_;
    std::shared_ptr<const std::vector<Pipeline>> pipelines_;
};

NS::SharedPtr<MTL::CompileOptions> compile_options(Math math) {
    auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
    const bool fast = math == Math::fast;
    if (available("setMathMode:") && available("setMathFloatingPointFunctions:")) {
        options->setMathMode(fast ? MTL::MathModeFast : MTL::MathModeSafe);
        options->setMathFloatingPointFunctions(fast ? MTL::MathFloatingPointFunctionsFast
                                                    : MTL::MathFloatingPointFunctionsPrecise);
    } else {
        options->setFastMathEnabled(fast);
    }
    options->setLanguageVersion(at_least(msl_3_2_since) ? MTL::LanguageVersion3_2 : MTL::LanguageVersion3_1);
    return options;
}

Diagnostic whole_source_error(std::string message) { return {Severity::error, 0, 0, std::move(message)}; }

// Fills diagnostics; null when the source didn't compile.
NS::SharedPtr<MTL::Library> compile(MTL::Device& device, const std::string& source, Math math,
                                    std::vector<Diagnostic>& diagnostics) {
    if (const auto nul = source.find('\0'); nul != std::string::npos) {
        const auto line = std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(nul), '\n') + 1;
        diagnostics.push_back({Severity::error, static_cast<std::uint32_t>(line), 1, "NUL character in the source"});
        return nullptr;
    }
    const auto text = string_of(source);
    if (!text) {
        diagnostics.push_back(whole_source_error("the source is not valid UTF-8"));
        return nullptr;
    }
    NS::Error* error = nullptr;  // also set, beside a library, when there are warnings
    auto library = NS::TransferPtr(device.newLibrary(text.get(), compile_options(math).get(), &error));
    if (error != nullptr) diagnostics = parse_diagnostics(text_of(error));
    const bool says_why = std::ranges::find(diagnostics, Severity::error, &Diagnostic::severity) != diagnostics.end();
    if (!library && !says_why) diagnostics.push_back(whole_source_error(text_of(error)));
    return library;
}

}  // namespace

std::unique_ptr<Library> compile_library(std::shared_ptr<const Context> context, std::string_view source,
                                         const CompileOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    CompileReport report;
    auto pipelines = std::make_shared<std::vector<Pipeline>>();
    if (const auto library = compile(*context->device.get(), std::string(source), options.math, report.diagnostics)) {
        report.compile_ok = true;
        *pipelines = make_pipelines(*context->device.get(), *library.get(), options.constants);
        for (const Pipeline& pipeline : *pipelines) report.kernels.push_back(pipeline.info);
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::make_unique<MetalLibrary>(std::move(context), std::move(report), std::move(pipelines));
}

}  // namespace kfp::metal
