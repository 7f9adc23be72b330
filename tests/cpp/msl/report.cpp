// Compiles a Metal source file and prints the report, one fact a line. Usage: msl_report [--check] [--precise] [--checked]
// CLANG MSL_INCLUDE CACHE FOLDER SOURCE...
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "msl/compile.hpp"

namespace {

const char* severity_name(kfp::Severity severity) {
    switch (severity) {
        case kfp::Severity::note: return "note";
        case kfp::Severity::warning: return "warning";
        case kfp::Severity::error: break;
    }
    return "error";
}

const char* kind_name(kfp::ParameterKind kind) {
    switch (kind) {
        case kfp::ParameterKind::buffer: return "buffer";
        case kfp::ParameterKind::threadgroup: return "threadgroup";
        case kfp::ParameterKind::input: return "input";
        case kfp::ParameterKind::texture: return "texture";
        case kfp::ParameterKind::sampler: return "sampler";
        case kfp::ParameterKind::other: break;
    }
    return "other";
}

void print(const std::string& file, const kfp::msl::Compiled& compiled) {
    std::cout << "file " << file << ' ' << (compiled.report.compile_ok ? "ok" : "refused") << ' ' << compiled.report.seconds * 1e3 << " ms\n";
    for (const kfp::Diagnostic& d : compiled.report.diagnostics) {
        std::cout << "program_source:" << d.line << ':' << d.column << ": " << severity_name(d.severity) << ": " << d.message << '\n';
    }
    for (std::size_t k = 0; k < compiled.report.kernels.size(); ++k) {
        const kfp::KernelInfo& kernel = compiled.report.kernels[k];
        std::cout << "kernel " << kernel.name << " max_threads=" << kernel.max_total_threads_per_threadgroup
                  << " threadgroup_memory=" << kernel.static_threadgroup_memory_length
                  << " extent=" << compiled.kernels[k].threadgroup_extent << " synchronises=" << compiled.kernels[k].synchronises
                  << (kernel.pipeline_error.empty() ? "" : " pipeline_error=") << kernel.pipeline_error << '\n';
        for (const kfp::Parameter& p : kernel.parameters) {
            std::cout << "  " << p.name << " : " << p.type << " : " << kind_name(p.kind) << ' ' << p.index << ' ' << p.attribute << '\n';
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    kfp::CompileOptions options;
    std::vector<std::string> arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--check") {
            options.check_only = true;
        } else if (argument == "--precise") {
            options.math = kfp::Math::precise;
        } else if (argument == "--checked") {
            options.checked = true;
        } else {
            arguments.push_back(argument);
        }
    }
    if (arguments.size() < 5) {
        std::cerr << "usage: msl_report [--check] [--precise] [--checked] CLANG MSL_INCLUDE CACHE FOLDER SOURCE...\n";
        return 2;
    }
    kfp::Toolchain toolchain;
    toolchain.clang = arguments[0];
    toolchain.clang_is_zig = std::filesystem::path(arguments[0]).filename() == "zig";
    toolchain.msl_include = arguments[1];
    toolchain.cache = arguments[2];
    int status = 0;
    for (std::size_t i = 4; i < arguments.size(); ++i) {
        std::ifstream in(arguments[i], std::ios::binary);
        const std::string source{std::istreambuf_iterator<char>(in), {}};
        try {
            const kfp::msl::Compiled compiled = kfp::msl::compile(source, options, toolchain, arguments[3]);
            print(arguments[i], compiled);
            status = compiled.report.compile_ok ? status : 1;
        } catch (const std::exception& error) {
            std::cerr << arguments[i] << ": " << error.what() << '\n';
            status = 3;
        }
    }
    return status;
}
