// Running untrusted work: a command (the compiler, on a hostile source) or this very process (a hostile kernel).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace kfp {

struct CommandLimits {
    double seconds = 20.0;
    std::uint64_t memory_bytes = std::uint64_t{2} << 30;
    std::uint64_t file_bytes = std::uint64_t{64} << 20;   // of any file it writes
    std::uint64_t output_bytes = std::uint64_t{4} << 20;  // of stdout and stderr together
};

struct Command {
    std::vector<std::string> argv;       // argv[0] is an absolute path
    std::vector<std::string> readable;   // files and folders that it may read or execute, nothing else
    std::vector<std::string> writable;   // folders that it may write to; the first is where it runs
    CommandLimits limits;
};

enum class Outcome : std::uint8_t { exited, signalled, timed_out, too_much_output, not_started };

struct CommandResult {
    Outcome outcome = Outcome::not_started;
    int status = 0;  // exit status or signal number
    std::string out;
    std::string err;  // after not_started: why
};

// Empty environment, no network, no inherited descriptors, its whole process group ended when it returns.
CommandResult run_confined(const Command& command);

// An upper bound that every later run_confined of this process keeps, whatever its own limits say: the commands of one
// compilation share one deadline.
struct CommandCap {
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::uint64_t memory_bytes = UINT64_MAX;
};
void cap_commands(const CommandCap& cap);

// From here on this process can compute, answer on `channel` and exit, and no more: no files, no processes, no network.
// Other descriptors than `channel` and the standard three are closed, threads that exist already are sealed too.
// Throws kfp::Error where the machine offers no such filter and KFP_ALLOW_UNCONFINED is not set.
void confine_self(int channel);

}  // namespace kfp
