// What a kernel is told to have done when the hardware stops it. Each fault happens in a child process.
#include <sys/wait.h>
#include <unistd.h>

#include "check.hpp"
#include "device/cpu/fault.hpp"
#include "device/image_fixture.hpp"

using namespace kfp;
using namespace kfp::test;

namespace {

int report_to = -1;

void send_report(const char* message, std::uint32_t dispatch, std::uint32_t kernel) {
    const std::string_view text(message);
    const char place[] = {' ', '#', static_cast<char>('0' + dispatch), static_cast<char>('0' + kernel)};
    const bool sent = ::write(report_to, text.data(), text.size()) >= 0 && ::write(report_to, place, sizeof place) >= 0;
    ::_exit(sent ? 42 : 43);
}

std::string report_of_fault(const char* image, unsigned kernel, unsigned fault, const RunOptions& options) {
    int ends[2];
    CHECK_EQUAL(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        report_to = ends[1];
        cpu::set_fault_sink(&send_report);
        const Fixture fixture(image, 2);
        Plan plan;
        plan.kernels = {"k10", "k" + std::to_string(kernel)};
        plan.buffers = {{"result", 100, BufferRole::output, 0}};
        plan.dispatches = {
            {0, {}, {1, 1, 1}, {1, 1, 1}},
            {1, {{0, BufferBinding{0, 0}}, {1, word(fault)}, {2, word(0)}}, {1, 1, 1}, {1, 1, 1}}};
        const auto execution = fixture.prepare(plan, options);
        execution->reset();
        execution->run(1);
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string text;
    char buffer[1024];
    for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
    if (WEXITSTATUS(status) != 42) return "exit status " + std::to_string(WEXITSTATUS(status));
    return text;
}

struct Case {
    unsigned fault;
    const char* expected;
};

}  // namespace

int main(int, char** argv) {
    const Case cases[] = {
        {1, "read from buffer 0 ('result') at byte -4194308, outside of its 100 bytes"},
        {2, "wrote to a null pointer (address 0x8)"},
        {3, "wild pointer"},
        {4, "overflowed its stack"},
        {6, "ran into a trap"},
        {7, "wrote to threadgroup memory at byte 1048576, outside of the threadgroup's allocation"},
        {8, "wrote to the read-only content of a bytes binding"},
        {9, "wrote to its own code or constants"},
        {10, "jumped to buffer 0 ('result') at byte 0"},
    };
    for (const unsigned kernel : {6U, 7U}) {
        for (const Case& each : cases) {
            const std::string report = report_of_fault(argv[1], kernel, each.fault, {});
            if (report.find("kernel 'k" + std::to_string(kernel) + "' ") != 0 || report.find(each.expected) == std::string::npos ||
                report.find("(threadgroup (0, 0, 0)") == std::string::npos || report.find("#11") == std::string::npos) {
                test::report(__FILE__, __LINE__, "expected '" + std::string(each.expected) + "', came '" + report + "'");
            }
        }
    }
    // A division by zero has a value, as on a GPU, and is a fault only where faults are looked for. arm64 doesn't trap.
    CHECK_EQUAL(report_of_fault(argv[1], 7, 5, {}), "exit status 0");
#if defined(__x86_64__)
    RunOptions checked;
    checked.checked = true;
    CHECK(report_of_fault(argv[1], 7, 5, checked).find("kernel 'k7' divided an integer by zero") == 0);
#endif
    // 100 bytes end 12 bytes before the guard; with a spacious layout the same write harms nobody.
    CHECK_EQUAL(report_of_fault(argv[1], 6, 0, {}), "exit status 0");
    CHECK_EQUAL(report_of_fault(argv[1], 6, 99, {}), "exit status 0");
    return outcome();
}
