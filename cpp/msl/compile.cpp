#include "msl/compile.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>

#include "msl/diagnostics.hpp"
#include "msl/image_cache.hpp"
#include "msl/intermediate.hpp"
#include "msl/kernels.hpp"
#include "msl/preprocessor.hpp"
#include "msl/rewrite.hpp"
#include "msl/rules.hpp"
#include "msl/sha256.hpp"
#include "msl/structure.hpp"
#include "msl/toolchain.hpp"

namespace kfp::msl {
namespace {

constexpr std::size_t max_source_bytes = std::size_t{1} << 20;
constexpr std::uint64_t max_threadgroup_bytes = 32768;
constexpr const char* program_file = "program_source";
constexpr const char* image_file = "candidate.so";
constexpr const char* text_file = "candidate.ll";
constexpr const char* simple_file = "simple.ll";
constexpr const char* foreign_file = "the program made the compiler read a file that is not part of the Metal standard library";
constexpr std::size_t max_text_bytes = std::size_t{12} << 20;

void write_file(const std::string& path, std::string_view content) {
    std::ofstream out(path, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!out.flush()) {
        throw Error("msl: can't write " + path);
    }
}

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// What ended a command other than its own verdict, in words; empty after an ordinary exit.
std::string abnormal_end(const CommandResult& result, const char* what) {
    const std::string subject = std::string("the ") + what;
    switch (result.outcome) {
        case Outcome::exited:
            if (result.err.find("out of memory") != std::string::npos || result.err.find("bad_alloc") != std::string::npos) {
                return subject + " ran out of memory";
            }
            return result.status > 1 ? subject + " crashed (exit status " + std::to_string(result.status) + ")" : "";
        case Outcome::signalled: return subject + " crashed (signal " + std::to_string(result.status) + ")";
        case Outcome::timed_out: return subject + " took too long";
        case Outcome::too_much_output: return subject + " wrote too much output";
        case Outcome::not_started: break;
    }
    return subject + " could not be started: " + result.err;
}

// What the passes before the compiler make of a source.
struct FrontEnd {
    FrontEnd(std::string_view source, Diagnostics& diagnostics) : stream(preprocess(source, diagnostics)), program(read_structure(stream)) {}
    FrontEnd(const FrontEnd&) = delete;
    FrontEnd& operator=(const FrontEnd&) = delete;

    const TokenStream stream;
    const Program program;
    Kernels kernels;
    Rewritten rewritten;
};

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

class Compilation {
public:
    Compilation(const CompileOptions& options, const Toolchain& toolchain, const std::string& folder)
        : options_(options), toolchain_(toolchain), folder_(folder) {}

    Compiled run(std::string_view source) {
        report([&] { compile(source); });
        return std::move(result_);
    }

    Intermediate intermediate(std::string_view source) {
        Intermediate made;
        report([&] { translate(source, made); });
        made.report = std::move(result_.report);
        return made;
    }

private:
    template <typename Work>
    void report(const Work& work) {
        const auto start = std::chrono::steady_clock::now();
        try {
            work();
        } catch (const std::logic_error& fault) {
            diagnostics_.error(Position{}, std::string("this program is beyond the front end: ") + fault.what());
        }
        result_.report.compile_ok = !diagnostics_.has_errors();
        result_.report.diagnostics = diagnostics_.list();
        for (Diagnostic& diagnostic : result_.report.diagnostics) {
            // An error about the program as a whole stands where it begins.
            if (diagnostic.severity == Severity::error && diagnostic.line == 0) {
                diagnostic.line = diagnostic.column = 1;
            }
        }
        if (!result_.report.compile_ok) {
            result_.image.clear();
        }
        result_.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    // Null where there is nothing that the compiler could be given.
    std::unique_ptr<const FrontEnd> read(std::string_view source) {
        if (source.size() > max_source_bytes) {
            diagnostics_.error(Position{}, "the source is too large: " + std::to_string(source.size()) + " bytes, at most " +
                                               std::to_string(max_source_bytes) + " are accepted");
            return nullptr;
        }
        auto front = std::make_unique<FrontEnd>(source, diagnostics_);
        const Program& program = front->program;
        Kernels& kernels = front->kernels;
        check_hygiene(program, diagnostics_);
        if (program.balanced) {
            kernels = read_kernels(program, diagnostics_);
            check_rules(program, kernels, diagnostics_);
        }
        for (const Kernel& kernel : kernels.kernels) {
            result_.report.kernels.push_back(kernel.info);
            require_constants(program, kernels, kernel, result_.report.kernels.back());
            result_.kernels.push_back({kernel.synchronises, threadgroup_extent(kernels, kernel), {}});
        }
        if (diagnostics_.has_errors()) {
            return nullptr;
        }
        front->rewritten = rewrite(program, kernels, options_);
        write_file(folder_ + "/" + program_file, front->rewritten.text);
        return front;
    }

    // False, with a diagnostic, where the compiler refused or failed.
    bool accepted(const FrontEnd& front, const CommandResult& compiled, const CompilerOutput& output) {
        const Program& program = front.program;
        diagnostics_.append(output.diagnostics);
        if (output.has_errors) {
            return false;
        }
        if (const std::string end = abnormal_end(compiled, "compiler"); !end.empty()) {
            diagnostics_.error(Position{}, end);
        } else if (!program.balanced) {
            const Token& bracket = program.token(program.unpaired);
            diagnostics_.error(bracket.position, "no partner for '" + bracket.text + "'");
        } else if (compiled.status != 0) {
            diagnostics_.error(Position{}, "the compiler refused the program without a reason: " + compiled.err.substr(0, 400));
        } else {
            return true;
        }
        return false;
    }

    void translate(std::string_view source, Intermediate& made) {
        const std::unique_ptr<const FrontEnd> front = read(source);
        if (front == nullptr) {
            return;
        }
        const CompilerTools tools(toolchain_, options_.math);
        const CommandResult compiled = tools.emit(folder_, program_file, text_file);
        const CompilerOutput output = read_compiler_output(compiled.err, program_file, front->program, front->rewritten);
        if (!accepted(*front, compiled, output)) {
            return;
        }
        set_threadgroup_memory(*front, output);
        if (!depends_only_on_ours(tools)) {
            diagnostics_.error(Position{}, foreign_file);
            return;
        }
        made.map = source_map(front->stream, front->rewritten);
        for (const ThreadgroupUse& use : output.threadgroup_uses) {
            made.threadgroup_arrays.push_back({use.token, use.bytes});
        }
        std::string text = read_file(folder_ + "/" + text_file);
        if (text.size() > max_text_bytes) {
            made.reason = "the program becomes " + std::to_string(text.size()) + " bytes of intermediate code, at most " +
                          std::to_string(max_text_bytes) + " are looked at";
            return;
        }
        write_file(folder_ + "/" + text_file, with_calls_in_line(text));
        made.program = std::move(text);
        const CommandResult simplified = tools.simplify(folder_, text_file, simple_file);
        made.inlined = read_file(folder_ + "/" + simple_file);
        if (const std::string end = abnormal_end(simplified, "compiler"); !end.empty()) {
            made.reason = end;
        } else if (simplified.status != 0) {
            made.reason = "the compiler refused its own intermediate code: " + simplified.err.substr(0, 400);
        } else if (made.inlined.size() > max_text_bytes) {
            made.reason = "with all calls in line the program becomes " + std::to_string(made.inlined.size()) +
                          " bytes of intermediate code, at most " + std::to_string(max_text_bytes) + " are looked at";
        }
        if (!made.reason.empty()) {
            made.inlined.clear();
        }
    }

    void compile(std::string_view source) {
        const std::unique_ptr<const FrontEnd> front = read(source);
        if (front == nullptr) {
            return;
        }
        const Program& program = front->program;
        const Kernels& kernels = front->kernels;
        const Rewritten& rewritten = front->rewritten;
        const CompilerTools tools(toolchain_, options_.math);
        const bool synchronises = std::any_of(kernels.kernels.begin(), kernels.kernels.end(),
                                              [](const Kernel& kernel) { return kernel.synchronises; });
        if (!options_.counting.empty()) {
            compile_counting(tools, *front, synchronises);
            return;
        }
        const ImageCache cache(toolchain_.cache + "/images");
        std::string content = tools.key();
        content += synchronises ? " in order\n" : "\n";
        const std::string key = sha256_hex(content.append(rewritten.text));
        if (!options_.check_only) {
            if (const std::optional<ImageCache::Entry> known = cache.find(key)) {
                const CompilerOutput output = read_compiler_output(known->messages, program_file, program, rewritten);
                diagnostics_.append(output.diagnostics);
                set_threadgroup_memory(*front, output);
                write_file(folder_ + "/" + image_file, known->image);
                result_.image = folder_ + "/" + image_file;
                return;
            }
        }
        const CommandResult compiled =
            options_.check_only ? tools.check(folder_, program_file)
                                : tools.compile(folder_, program_file, "candidate.o", synchronises);
        const CompilerOutput output = read_compiler_output(compiled.err, program_file, program, rewritten);
        if (!accepted(*front, compiled, output)) {
            return;
        }
        set_threadgroup_memory(*front, output);
        if (!options_.check_only) {
            link(tools);
            if (!result_.image.empty()) {
                cache.store(key, {compiled.err, read_file(result_.image)});
            }
        }
    }

    // The text that was given takes the place of what the compiler makes of the source, but for what it says of it.
    void compile_counting(const CompilerTools& tools, const FrontEnd& front, bool synchronises) {
        const CommandResult checked = tools.emit(folder_, program_file, text_file);
        const CompilerOutput output = read_compiler_output(checked.err, program_file, front.program, front.rewritten);
        if (!accepted(front, checked, output)) {
            return;
        }
        set_threadgroup_memory(front, output);
        write_file(folder_ + "/" + text_file, options_.counting);
        const CommandResult compiled = tools.assemble(folder_, text_file, "candidate.o", synchronises);
        if (accepted(front, compiled, {})) {
            link(tools);
        }
    }

    // A pipeline needs a value for every function constant, unless the kernel asks which ones have one.
    void require_constants(const Program& program, const Kernels& kernels, const Kernel& kernel, KernelInfo& info) const {
        for (const Index c : kernel.constants) {
            const FunctionConstantVariable& constant = kernels.constants[c];
            const bool given = std::any_of(options_.constants.begin(), options_.constants.end(),
                                           [&](const FunctionConstant& value) { return value.index == constant.index; });
            if (!given && !kernel.tests_constants && info.pipeline_error.empty()) {
                info.pipeline_error = "function constant '" + program.token(constant.name).text + "' at index " +
                                      std::to_string(constant.index) + " has no value";
            }
        }
    }

    static std::uint32_t threadgroup_extent(const Kernels& kernels, const Kernel& kernel) {
        std::uint32_t count = 0;
        for (const ThreadgroupVariable& variable : kernels.variables) {
            count = variable.function == kernel.function ? std::max(count, variable.number + 1) : count;
        }
        return count * threadgroup_slot_bytes;
    }

    void set_threadgroup_memory(const FrontEnd& front, const CompilerOutput& output) {
        const Kernels& kernels = front.kernels;
        for (std::size_t k = 0; k < kernels.kernels.size(); ++k) {
            const Kernel& kernel = kernels.kernels[k];
            std::vector<ThreadgroupAllocation>& allocations = result_.kernels[k].threadgroup_variables;
            std::uint64_t total = 0;
            for (const ThreadgroupUse& use : output.threadgroup_uses) {
                const bool declared_here = std::any_of(kernels.variables.begin(), kernels.variables.end(), [&](const ThreadgroupVariable& v) {
                    return v.function == kernel.function && v.name == use.token;
                });
                if (declared_here && (use.instantiation == none || use.instantiation == kernel.name_token)) {
                    total = align_up(total, std::max<std::uint64_t>(use.alignment, 1)) + use.bytes;
                    allocations.push_back({front.program.token(use.token).text, use.number * threadgroup_slot_bytes,
                                           static_cast<std::uint32_t>(std::min<std::uint64_t>(use.bytes, threadgroup_slot_bytes)),
                                           threadgroup_slot_bytes});
                }
            }
            KernelInfo& info = result_.report.kernels[k];
            info.static_threadgroup_memory_length = static_cast<std::uint32_t>(std::min<std::uint64_t>(align_up(total, 16), UINT32_MAX));
            if (total > max_threadgroup_bytes && info.pipeline_error.empty()) {
                info.pipeline_error = "Threadgroup memory size (" + std::to_string(total) +
                                      ") exceeds the maximum threadgroup memory allowed (" + std::to_string(max_threadgroup_bytes) + ")";
            }
        }
    }

    void link(const CompilerTools& tools) {
        if (!depends_only_on_ours(tools)) {
            diagnostics_.error(Position{}, foreign_file);
            return;
        }
        const CommandResult linked = tools.link(folder_, "candidate.o", image_file);
        if (const std::string end = abnormal_end(linked, "linker"); !end.empty()) {
            diagnostics_.error(Position{}, end);
        } else if (linked.status != 0) {
            report_undefined(linked.err);
        } else {
            result_.image = folder_ + "/" + image_file;
        }
    }

    // "ld.lld: error: undefined symbol: NAME"
    void report_undefined(std::string_view text) {
        constexpr std::string_view marker = "undefined symbol: ";
        for (std::size_t at = text.find(marker); at != std::string_view::npos; at = text.find(marker, at + 1)) {
            const std::string_view name = text.substr(at + marker.size());
            diagnostics_.error(Position{}, "undefined symbol '" + in_metal_terms(std::string(name.substr(0, name.find('\n')))) + "'");
        }
        if (!diagnostics_.has_errors()) {
            diagnostics_.error(Position{}, "the linker refused the program: " + std::string(text.substr(0, 400)));
        }
    }

    // Defence in depth: no directive of the user's reaches the compiler.
    bool depends_only_on_ours(const CompilerTools& tools) const {
        std::ifstream in(folder_ + "/candidate.o.d");
        std::string word;
        in >> word;  // the target
        while (in >> word) {
            if (word != "\\" && word != program_file && !tools.is_ours(word)) {
                return false;
            }
        }
        return true;
    }

    const CompileOptions& options_;
    const Toolchain& toolchain_;
    const std::string& folder_;
    Diagnostics diagnostics_;
    Compiled result_;
};

}  // namespace

Compiled compile(std::string_view source, const CompileOptions& options, const Toolchain& toolchain, const std::string& folder) {
    return Compilation(options, toolchain, folder).run(source);
}

Intermediate intermediate(std::string_view source, const CompileOptions& options, const Toolchain& toolchain, const std::string& folder) {
    return Compilation(options, toolchain, folder).intermediate(source);
}

void build_library(const Toolchain& toolchain, Math math) { static_cast<void>(CompilerTools(toolchain, math)); }

}  // namespace kfp::msl
