#include "msl/toolchain.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "msl/compile.hpp"
#include "msl/link.hpp"
#include "msl/sha256.hpp"
#include "msl/target.hpp"

namespace kfp::msl {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view driver_version = "1";

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    std::string content(in ? static_cast<std::size_t>(in.tellg()) : 0, '\0');
    if (!in.seekg(0).read(content.data(), static_cast<std::streamsize>(content.size()))) {
        throw Error("msl: can't read " + path.string());
    }
    return content;
}

void write_file(const fs::path& path, std::string_view content) {
    std::ofstream out(path, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!out.flush()) {
        throw Error("msl: can't write " + path.string());
    }
}

std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

class FileLock {
public:
    explicit FileLock(const std::string& path) : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX) != 0) {
            throw Error("msl: can't lock " + path);
        }
    }
    ~FileLock() { ::close(descriptor_); }
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

private:
    int descriptor_;
};

// Semantics of Metal that C++ would leave undefined or do otherwise.
const std::vector<std::string>& language_arguments() {
    static const std::vector<std::string> arguments{
        "-x", "cl", "-cl-std=clc++2021", "-fdeclspec", "-cl-ext=+all", "-ffreestanding", "-nostdsysteminc", "-nobuiltininc",
        "-fnative-half-type", "-fnative-half-arguments-and-returns", "-cl-single-precision-constant", "-fwrapv", "-relaxed-aliasing",
        "-fno-strict-float-cast-overflow", "-fno-finite-loops", "-fgnuc-version=4.2.1", "-mrelocation-model", "pic", "-pic-level", "2",
        // A GPU loads a float4 from wherever floats may be, as from a row of odd length: no instruction may want more alignment.
        "-fmax-type-align=8",
        // So that a large frame can't step over the guard below a thread's stack.
        "-fstack-clash-protection",
        "-fvisibility=hidden", "-mframe-pointer=none", "-mconstructor-aliases",
        // -O3, and unrolling by counts known only at run time, cost much compile time and win the seed kernels a few percent.
        "-O2", "-mllvm", "-unroll-runtime=0", "-vectorize-loops", "-vectorize-slp",
        // Long straight code, as of an unrolled hash, would else take seconds for next to nothing.
        "-mllvm", "-slp-schedule-budget=1000",
        "-ftemplate-depth=256", "-fbracket-depth", "320", "-fconstexpr-steps=1048576", "-fconstexpr-depth=256"};
    return arguments;
}

const std::vector<std::string>& diagnostic_arguments() {
    static const std::vector<std::string> arguments{
        "-fno-caret-diagnostics", "-ferror-limit", "20", "-ftemplate-backtrace-limit=6", "-fno-elide-type",
        "-Wdeprecated-declarations", "-Wunused-variable", "-Wuninitialized", "-Wsometimes-uninitialized",
        "-Wno-unused-function", "-Werror=undefined-internal", "-Werror=undefined-inline", "-Werror=global-constructors",
        "-Werror=ctad-maybe-unsupported", "-Wno-duplicate-decl-specifier", "-Wno-unused-value", "-Wno-unused-const-variable", "-Wno-error=parentheses",
        "-Wno-error=missing-template-arg-list-after-template-kw",
        "-Wno-c++17-extensions", "-Wno-pass-failed", "-Wno-address-of-packed-member"};
    return arguments;
}

std::vector<std::string> math_arguments(Math math) {
    if (math == Math::precise) {
        return {"-D__KFP_PRECISE_MATH__=1", "-ffp-contract=off"};
    }
    return {"-D__FAST_MATH__=1", "-funsafe-math-optimizations", "-fno-signed-zeros", "-mreassociate", "-freciprocal-math",
            "-fapprox-func", "-ffp-contract=fast"};
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) { to.insert(to.end(), more.begin(), more.end()); }

// What decides the code that a program becomes; empty where there is no code generation for this processor.
std::vector<std::string> code_arguments(Math math) {
    std::vector<std::string> arguments = host_target_arguments();
    if (!arguments.empty()) {
        append(arguments, language_arguments());
        append(arguments, math_arguments(math));
        arguments.push_back("-DKFP_THREADGROUP_SLOT_BYTES=" + std::to_string(threadgroup_slot_bytes));
    }
    return arguments;
}

// Every call keeps a place of its own, in the order of the source: the runtime tells simdgroup operations by it.
const std::vector<std::string>& in_order_arguments() {
    static const std::vector<std::string> arguments{"-mllvm", "-disable-block-placement", "-mllvm", "-enable-tail-merge=0",
                                                    "-mllvm", "-disable-tail-duplicate",  "-mllvm", "-disable-early-taildup"};
    return arguments;
}

fs::path glue_folder(const Toolchain& toolchain) {
    const fs::path installed = fs::path(toolchain.msl_include) / "glue";
    return fs::exists(installed) ? installed : fs::path(toolchain.msl_include).parent_path() / "glue";
}

// Those of other versions that nobody used for a week; 14 MB each.
void remove_unused_headers(const fs::path& cache) {
    std::error_code ignored;
    const auto week_ago = fs::file_time_type::clock::now() - std::chrono::hours(24 * 7);
    for (const fs::directory_entry& entry : fs::directory_iterator(cache, ignored)) {
        if (entry.path().extension() == ".pch" && entry.last_write_time(ignored) < week_ago) {
            fs::remove(entry.path(), ignored);
            fs::remove(fs::path(entry.path()).replace_extension(".glue.o"), ignored);
        }
    }
}

// Names everything in these folders. Takes milliseconds: once a process.
const std::string& digest_of_files(const std::string& include, const std::string& glue) {
    static std::mutex mutex;
    static std::map<std::pair<std::string, std::string>, std::string> known;
    const std::scoped_lock lock(mutex);
    std::string& digest = known[{include, glue}];
    if (digest.empty()) {
        std::string content;
        for (const std::string& folder : {include, glue}) {
            for (const fs::path& file : files_below(folder)) {
                // A precompiled header also holds the times of what it was made from.
                const auto written = static_cast<std::int64_t>(fs::last_write_time(file).time_since_epoch().count());
                content += file.string() + ' ' + std::to_string(written) + '\n' + read_file(file) + '\n';
            }
        }
        digest = sha256_hex(content);
    }
    return digest;
}

std::string description(const CommandResult& result) {
    switch (result.outcome) {
        case Outcome::exited: return "exit status " + std::to_string(result.status) + ": " + result.err + result.out;
        case Outcome::signalled: return "ended by signal " + std::to_string(result.status) + ": " + result.err;
        case Outcome::timed_out: return "took too long";
        case Outcome::too_much_output: return "wrote too much";
        case Outcome::not_started: break;
    }
    return "could not be started: " + result.err;
}

}  // namespace

CompilerTools::CompilerTools(const Toolchain& toolchain, Math math) : toolchain_(toolchain) {
    language_ = code_arguments(math);
    if (language_.empty()) {
        throw DeviceUnavailable("msl: no code generation for this processor");
    }
    language_.insert(language_.end(), {"-I", toolchain_.msl_include});

    glue_sources_ = glue_folder(toolchain_).string();

    struct stat compiler{};
    if (::stat(toolchain_.clang.c_str(), &compiler) != 0) {
        throw DeviceUnavailable("msl: there is no compiler at " + toolchain_.clang);
    }
    std::string content = std::string(driver_version) + '\n' + toolchain_.clang + ' ' + std::to_string(compiler.st_size) + ' ' +
                          std::to_string(compiler.st_mtime) + '\n';
    for (const std::vector<std::string>& arguments : {language_, diagnostic_arguments(), in_order_arguments()}) {
        for (const std::string& argument : arguments) {
            content += argument + '\n';
        }
    }
    content += digest_of_files(toolchain_.msl_include, glue_sources_);
    key_ = sha256_hex(content).substr(0, 40);

    fs::create_directories(toolchain_.cache);
    precompiled_ = toolchain_.cache + "/" + key_ + ".pch";
    glue_ = toolchain_.cache + "/" + key_ + ".glue.o";
    if (fs::exists(precompiled_) && fs::exists(glue_)) {
        std::error_code ignored;
        fs::last_write_time(precompiled_, fs::file_time_type::clock::now(), ignored);
        return;
    }
    const FileLock lock(toolchain_.cache + "/lock");
    remove_unused_headers(toolchain_.cache);
    if (!fs::exists(precompiled_)) {
        std::vector<std::string> arguments = language_;
        append(arguments, diagnostic_arguments());
        append(arguments, {"-emit-pch", "-fpch-instantiate-templates", "-o", "result", toolchain_.msl_include + "/kfp/program.h"});
        build(precompiled_, {clang(arguments)});
    }
    if (!fs::exists(glue_)) {
        std::vector<std::vector<std::string>> steps;
        std::vector<std::string> partial{"ld.lld", "-r", "-o", "result"};
        for (const fs::path& file : files_below(glue_sources_)) {
            if (file.extension() != ".c") {
                continue;
            }
            std::vector<std::string> arguments = host_target_arguments();
            const std::string object = file.stem().string() + ".o";
            append(arguments, {"-x", "c", "-std=gnu11", "-O2", "-ffreestanding", "-fno-builtin", "-nostdsysteminc", "-nobuiltininc",
                               "-mrelocation-model", "pic", "-pic-level", "2", "-fvisibility=hidden", "-mframe-pointer=none", "-I",
                               toolchain_.msl_include, "-emit-obj", "-o", object, file.string()});
            steps.push_back(clang(arguments));
            partial.push_back(object);
        }
        if (toolchain_.clang_is_zig) {
            partial.insert(partial.begin(), toolchain_.clang);
        } else {
            partial[0] = (fs::path(toolchain_.clang).parent_path() / "ld.lld").string();
        }
        steps.push_back(partial);
        build(glue_, steps);
    }
}

std::vector<std::string> CompilerTools::clang(std::vector<std::string> arguments) const {
    std::vector<std::string> argv{toolchain_.clang};
    if (toolchain_.clang_is_zig) {
        argv.emplace_back("clang");
    }
    argv.emplace_back("-cc1");
    append(argv, arguments);
    return argv;
}

Command CompilerTools::command(std::vector<std::string> argv, const std::string& folder) const {
    Command command;
    command.argv = std::move(argv);
    command.readable = {toolchain_.msl_include, toolchain_.cache, glue_sources_, fs::path(toolchain_.clang).parent_path().string()};
    if (!toolchain_.clang_is_zig) {
        append(command.readable, {"/usr/lib", "/lib", "/usr/lib64", "/lib64"});
    }
    command.writable = {folder};
    command.limits.seconds = 600.0;  // a compilation's commands share its deadline, which comes before that
    return command;
}

// Every step writes into a folder of its own; the last one's `result` takes its final name in one move.
void CompilerTools::build(const std::string& target, std::vector<std::vector<std::string>> steps) const {
    std::string pattern = toolchain_.cache + "/build-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
        throw Error("msl: can't make a folder in " + toolchain_.cache);
    }
    const struct Cleaner {
        std::string folder;
        ~Cleaner() {
            std::error_code ignored;
            fs::remove_all(folder, ignored);
        }
    } cleaner{pattern};
    for (std::vector<std::string>& step : steps) {
        Command work = command(std::move(step), pattern);
        work.limits.seconds = 120.0;
        const CommandResult result = run_confined(work);
        if (result.outcome != Outcome::exited || result.status != 0) {
            throw Error("msl: can't build the Metal standard library: " + work.argv[0] + " " + description(result).substr(0, 2000));
        }
    }
    fs::rename(pattern + "/result", target);
}

CommandResult CompilerTools::check(const std::string& folder, const std::string& source) const {
    std::vector<std::string> arguments = language_;
    append(arguments, diagnostic_arguments());
    append(arguments, {"-include-pch", precompiled_, "-fsyntax-only", source});
    return run_confined(command(clang(arguments), folder));
}

CommandResult CompilerTools::compile(const std::string& folder, const std::string& source, const std::string& object, bool in_order) const {
    std::vector<std::string> arguments = language_;
    if (in_order) {
        append(arguments, in_order_arguments());
    }
    append(arguments, diagnostic_arguments());
    append(arguments, {"-include-pch", precompiled_, "-dependency-file", object + ".d", "-sys-header-deps", "-MT", object,
                       "-disable-llvm-verifier", "-discard-value-names", "-emit-obj", "-o", object, source});
    return run_confined(command(clang(arguments), folder));
}

CommandResult CompilerTools::emit(const std::string& folder, const std::string& source, const std::string& text) const {
    std::vector<std::string> arguments = language_;
    append(arguments, diagnostic_arguments());
    append(arguments, {"-include-pch", precompiled_, "-dependency-file", "candidate.o.d", "-sys-header-deps", "-MT", text,
                       "-debug-info-kind=line-tables-only", "-dwarf-version=5", "-disable-llvm-passes", "-emit-llvm", "-o", text, source});
    return run_confined(command(clang(arguments), folder));
}

CommandResult CompilerTools::simplify(const std::string& folder, const std::string& text, const std::string& simple) const {
    std::vector<std::string> arguments = host_target_arguments();
    append(arguments, {"-x", "ir", "-O1", "-mllvm", "-enable-loop-distribute=0", "-mrelocation-model", "pic", "-pic-level", "2",
                       "-emit-llvm", "-o", simple, text});
    return run_confined(command(clang(arguments), folder));
}

CommandResult CompilerTools::assemble(const std::string& folder, const std::string& text, const std::string& object, bool in_order) const {
    std::vector<std::string> arguments = host_target_arguments();
    append(arguments, {"-x", "ir", "-O1", "-mrelocation-model", "pic", "-pic-level", "2", "-fvisibility=hidden", "-mframe-pointer=none"});
    if (in_order) {
        append(arguments, in_order_arguments());
    }
    append(arguments, {"-emit-obj", "-o", object, text});
    return run_confined(command(clang(arguments), folder));
}

CommandResult CompilerTools::link(const std::string& folder, const std::string& object, const std::string& image) const {
    const std::string object_path = folder + "/" + object;
    if (!toolchain_.lld_only && fs::is_regular_file(fs::symlink_status(object_path))) {
        const std::string candidate = read_file(object_path);
        const std::string glue = read_file(glue_);
        if (const std::optional<std::string> linked = link_in_process(std::array<std::string_view, 2>{candidate, glue})) {
            write_file(folder + "/" + image, *linked);
            CommandResult result;
            result.outcome = Outcome::exited;
            return result;
        }
    }
    std::vector<std::string> argv;
    if (toolchain_.clang_is_zig) {
        argv = {toolchain_.clang, "ld.lld"};
    } else {
        argv = {(fs::path(toolchain_.clang).parent_path() / "ld.lld").string()};
    }
    append(argv, {"-shared", "-z", "defs", "-z", "relro", "-z", "now", "-z", "noexecstack", "--gc-sections", "--build-id=none", "-O0",
                  "-o", image, object, glue_});
    return run_confined(command(std::move(argv), folder));
}

std::string library_digest(const Toolchain& toolchain) {
    std::string content;
    for (const Math math : {Math::fast, Math::precise}) {
        for (const std::string& argument : code_arguments(math)) {
            content += argument + '\n';
        }
    }
    for (const fs::path& folder : {fs::path(toolchain.msl_include), glue_folder(toolchain)}) {
        for (const fs::path& file : files_below(folder)) {
            content += file.lexically_relative(folder).string() + '\n' + read_file(file) + '\n';
        }
    }
    return sha256_hex(content).substr(0, 12);
}

bool CompilerTools::is_ours(std::string_view dependency) const {
    const auto below = [&](const std::string& folder) { return dependency.substr(0, folder.size() + 1) == folder + "/"; };
    return dependency.find("..") == std::string_view::npos && (below(toolchain_.msl_include) || dependency == precompiled_);
}

}  // namespace kfp::msl
