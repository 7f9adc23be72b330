// The front end for devices without Metal: from MSL source to a loadable image, by way of clang.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"

namespace kfp::msl {

struct ThreadgroupAllocation {
    std::string name;
    std::uint32_t offset = 0;  // in kfp_launch::threadgroup_memory
    std::uint32_t bytes = 0;
    std::uint32_t room = 0;  // bytes from the offset to where the next one may begin
};

struct KernelImage {
    // Reaches a barrier or a simdgroup/quadgroup operation, so that its threads need a stack each.
    bool synchronises = false;
    // What kfp_launch::threadgroup_memory must span, 64-byte aligned. Far more than the kernel's variables need: each has a
    // stretch of its own, most of which is never touched.
    std::uint32_t threadgroup_extent = 0;
    std::vector<ThreadgroupAllocation> threadgroup_variables = {};
};

struct Compiled {
    CompileReport report;
    std::string image;                  // shared object in `folder`; empty after check_only or an error
    std::vector<KernelImage> kernels;   // one per report.kernels
};

// Compiles in confined child processes (see worker/confine.hpp). Files go to `folder`, which the caller owns.
Compiled compile(std::string_view source, const CompileOptions& options, const Toolchain& toolchain,
                 const std::string& folder);

// The same as text of the compiler's, before it optimises, and once more with all calls put in line.
Intermediate intermediate(std::string_view source, const CompileOptions& options, const Toolchain& toolchain,
                          const std::string& folder);

// Builds what all compilations share, if it isn't cached yet: seconds, once per installation. Throws kfp::Error.
void build_library(const Toolchain& toolchain, Math math);

// Names what decides, besides the compiler itself, the code that a program becomes: library headers, glue and options.
std::string library_digest(const Toolchain& toolchain);

}  // namespace kfp::msl
