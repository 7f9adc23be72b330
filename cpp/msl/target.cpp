#include "msl/target.hpp"

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace kfp::msl {

std::vector<std::string> host_target_arguments() {
#if defined(__x86_64__)
    std::vector<std::string> arguments{"-triple", "x86_64-unknown-linux-gnu"};
    const bool v3 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("bmi") != 0 &&
                    __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("popcnt") != 0;
    const bool v2 = __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("popcnt") != 0;
    arguments.insert(arguments.end(), {"-target-cpu", v3 ? "x86-64-v3" : v2 ? "x86-64-v2" : "x86-64"});
    if (v3) {
        // The tuning that goes with x86-64-v3 takes gathers for slow, and puts scalar loads under branches in their place.
        arguments.insert(arguments.end(), {"-tune-cpu", "skylake"});
    }
    return arguments;
#elif defined(__aarch64__)
    std::vector<std::string> arguments{"-triple", "aarch64-unknown-linux-gnu", "-target-cpu", "generic",
                                       "-target-feature", "+neon", "-target-abi", "aapcs"};
#if defined(__linux__)
    const unsigned long capabilities = getauxval(AT_HWCAP);
    if ((capabilities & HWCAP_ATOMICS) != 0) {
        arguments.insert(arguments.end(), {"-target-feature", "+lse"});
    }
    if ((capabilities & HWCAP_FPHP) != 0 && (capabilities & HWCAP_ASIMDHP) != 0) {
        arguments.insert(arguments.end(), {"-target-feature", "+fullfp16"});
    }
#endif
    return arguments;
#else
    return {};
#endif
}

}  // namespace kfp::msl
