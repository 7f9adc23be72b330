#include "device/metal/diagnostics.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace kfp::metal {
namespace {

constexpr std::array<std::pair<std::string_view, Severity>, 4> severities{{
    {": fatal error: ", Severity::error},
    {": error: ", Severity::error},
    {": warning: ", Severity::warning},
    {": note: ", Severity::note},
}};

std::optional<std::uint32_t> take_last_number(std::string_view& head) {
    const auto colon = head.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view digits = head.substr(colon + 1);
    const char* const end = digits.data() + digits.size();
    std::uint32_t number = 0;
    const auto [stop, failure] = std::from_chars(digits.data(), end, number);
    if (failure != std::errc() || stop != end) return std::nullopt;
    head.remove_suffix(digits.size() + 1);
    return number;
}

std::optional<Diagnostic> parse_line(std::string_view line) {
    // The leftmost word decides: a message may quote the others.
    auto at = std::string_view::npos;
    const std::pair<std::string_view, Severity>* found = nullptr;
    for (const auto& candidate : severities) {
        if (const auto position = line.find(candidate.first); position < at) {
            at = position;
            found = &candidate;
        }
    }
    if (found == nullptr) return std::nullopt;
    std::string_view file = line.substr(0, at);
    const auto column = take_last_number(file);
    const auto row = column ? take_last_number(file) : std::nullopt;
    if (!row || file.empty()) return std::nullopt;

    Diagnostic diagnostic{found->second, *row, *column, std::string(line.substr(at + found->first.size()))};
    if (file != "program_source") {
        const std::string_view name = file.substr(file.rfind('/') + 1);
        diagnostic.message += " (" + std::string(name) + ":" + std::to_string(*row) + ")";
        diagnostic.line = diagnostic.column = 0;
    }
    return diagnostic;
}

}  // namespace

std::vector<Diagnostic> parse_diagnostics(std::string_view text) {
    std::vector<Diagnostic> diagnostics;
    while (!text.empty()) {
        const auto end = text.find('\n');
        if (auto diagnostic = parse_line(text.substr(0, end))) diagnostics.push_back(std::move(*diagnostic));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return diagnostics;
}

}  // namespace kfp::metal
