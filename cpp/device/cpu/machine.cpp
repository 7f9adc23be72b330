#include "device/cpu/machine.hpp"

#include <sched.h>
#include <sys/auxv.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

namespace kfp::cpu {
namespace {

unsigned cores_by_affinity() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<unsigned>(CPU_COUNT(&set));
}

// Containers limit processor time rather than affinity ("max 100000", or "150000 100000": one core and a half).
unsigned cores_by_control_group(unsigned most) {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    double quota = 0;
    double period = 0;
    if (!(file >> quota >> period) || quota <= 0 || period <= 0) return most;
    return std::min(most, static_cast<unsigned>(std::ceil(quota / period)));
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("model name", 0) != 0) continue;
        const std::size_t value = line.find(": ");
        if (value != std::string::npos) return line.substr(value + 2);
    }
#if defined(__x86_64__)
    return "x86-64 processor";
#else
    return "arm64 processor";
#endif
}

std::string vector_extension() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return "AVX-512";
    if (__builtin_cpu_supports("avx2")) return "AVX2";
    if (__builtin_cpu_supports("avx")) return "AVX";
    return "SSE2";
#else
    constexpr unsigned long sve = 1UL << 22;
    return (::getauxval(AT_HWCAP) & sve) != 0 ? "SVE" : "NEON";
#endif
}

}  // namespace

unsigned usable_cores() {
    static const unsigned cores = std::max(1U, cores_by_control_group(cores_by_affinity()));
    return cores;
}

std::string describe_machine() {
    const unsigned cores = usable_cores();
    return processor_name() + ", " + std::to_string(cores) + (cores == 1 ? " core (" : " cores (") + vector_extension() + ")";
}

std::uint64_t clock_ticks() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

double measured_clock_resolution() {
    constexpr int trials = 100;
    std::uint64_t smallest = UINT64_MAX;
    for (int i = 0; i < trials; ++i) {
        const std::uint64_t before = clock_ticks();
        std::uint64_t after = before;
        while (after == before) after = clock_ticks();
        smallest = std::min(smallest, after - before);
    }
    return static_cast<double>(smallest) * seconds_per_tick;
}

}  // namespace kfp::cpu
