#include "msl/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "msl/reserved_names.hpp"

namespace kfp::msl {
namespace {

struct Line {
    bool in_program = false;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    Severity severity = Severity::error;
    std::string_view message;
};

bool take_number(std::string_view& text, std::uint32_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end == text.data() + text.size() || *end != ':') {
        return false;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    return true;
}

// "file:line:column: severity: message"; also "error: message" without a place.
std::optional<Line> parse(std::string_view text, std::string_view file) {
    Line line;
    static constexpr std::array<std::pair<std::string_view, Severity>, 4> severities{{{"fatal error: ", Severity::error},
                                                                                      {"error: ", Severity::error},
                                                                                      {"warning: ", Severity::warning},
                                                                                      {"note: ", Severity::note}}};
    const auto take_severity = [&](std::string_view rest) {
        for (const auto& [word, severity] : severities) {
            if (rest.substr(0, word.size()) == word) {
                line.severity = severity;
                line.message = rest.substr(word.size());
                return true;
            }
        }
        return false;
    };
    if (take_severity(text)) {
        return line;
    }
    for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
        std::string_view rest = text.substr(colon + 1);
        if (take_number(rest, line.line) && take_number(rest, line.column) && !rest.empty() && take_severity(rest.substr(1))) {
            line.in_program = text.substr(0, colon) == file;
            return line;
        }
    }
    return std::nullopt;
}

std::uint64_t number_at(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

class Reader {
public:
    Reader(std::string_view file, const Program& program, const Rewritten& rewritten)
        : file_(file), program_(program), rewritten_(rewritten) {}

    CompilerOutput run(std::string_view text) {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            if (const std::optional<Line> line = parse(text.substr(0, end), file_)) {
                read(*line);
            }
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        return std::move(result_);
    }

private:
    void read(const Line& line) {
        const Index token = line.in_program && line.line >= 1 && line.line <= rewritten_.lines.size()
                                ? rewritten_.lines[line.line - 1].token
                                : none;
        if (threadgroup_use(line, token) || line.message.find("too many errors emitted") != std::string_view::npos) {
            return;
        }
        const bool first = line.severity != Severity::note;
        if (first) {
            // Metal's own attributes are unknown to the compiler, which sees them where brackets don't pair.
            muted_ = line.severity == Severity::warning && (token == none || line.message.rfind("unknown attribute '", 0) == 0);
            awaiting_place_ = !muted_ && token == none;
        }
        if (muted_) {
            return;
        }
        if (!first && token == none) {
            return;  // a note about our own headers
        }
        const std::string_view message = line.severity == Severity::error ? line.message.substr(0, line.message.rfind(" [-W")) : line.message;
        Diagnostic diagnostic{line.severity, 0, 0, in_metal_terms(std::string(message))};
        place(diagnostic, line, token);
        if (first) {
            tell_deleted_overload(diagnostic.message);
            candidates_.clear();
        } else if (is_superfluous_candidate(diagnostic)) {
            return;
        }
        if (!first && awaiting_place_) {
            // The fault showed inside the library: name the place in the program that led there.
            Diagnostic& fault = result_.diagnostics.back();
            fault.line = diagnostic.line;
            fault.column = diagnostic.column;
            awaiting_place_ = false;
        }
        if (!first && is_about_ours(line)) {
            return;
        }
        if (std::find_if(result_.diagnostics.begin(), result_.diagnostics.end(), [&](const Diagnostic& d) {
                return first && d.severity == diagnostic.severity && d.line == diagnostic.line && d.column == diagnostic.column &&
                       d.message == diagnostic.message;
            }) != result_.diagnostics.end()) {
            muted_ = true;
            return;
        }
        result_.has_errors = result_.has_errors || diagnostic.severity == Severity::error;
        result_.diagnostics.push_back(std::move(diagnostic));
        if (first && token != none) {
            const std::vector<Diagnostic> notes = macro_notes(program_.stream, program_.token(token));
            result_.diagnostics.insert(result_.diagnostics.end(), notes.begin(), notes.end());
        }
    }

    // Of a list of candidates, one note for each function of the program; our overloads stand at its place too.
    bool is_superfluous_candidate(const Diagnostic& note) {
        if (note.message.rfind("built-in candidate", 0) == 0 || note.message == "candidate function" ||
            note.message.find("has been explicitly deleted") != std::string::npos) {
            return true;
        }
        return note.message.rfind("candidate ", 0) == 0 &&
               (candidates_.size() == max_candidates || !candidates_.emplace(note.line, note.column).second);
    }

    // Overloads that keep objects of other address spaces out are ours, if the program deletes nothing.
    void tell_deleted_overload(std::string& message) const {
        static const std::regex call("call to deleted (member )?function '([^']*)'");
        static const std::regex operation("overload resolution selected deleted operator '([^']*)'");
        const std::vector<Token>& tokens = program_.stream.tokens;
        if (message.find(" deleted ") != std::string::npos &&
            std::none_of(tokens.begin(), tokens.end(), [](const Token& token) { return token.is("delete"); })) {
            message = std::regex_replace(message, call, "no matching $1function for call to '$2'");
            message = std::regex_replace(message, operation, "no viable overloaded operator '$1'");
        }
    }

    static bool is_about_ours(const Line& line) { return line.message.find("__kfp") != std::string_view::npos; }

    void place(Diagnostic& diagnostic, const Line& line, Index token) const {
        if (token == none) {
            return;
        }
        const Token& at = program_.token(token);
        diagnostic.line = at.position.line;
        diagnostic.column = at.position.column;
        const std::uint32_t added = rewritten_.lines[line.line - 1].added;
        if (at.origin == 0 && line.column > added + 1) {
            diagnostic.column += std::min<std::uint32_t>(line.column - 1 - added, static_cast<std::uint32_t>(at.text.size()));
        }
    }

    // The use of a threadgroup slot: '…slot<T, number, size, alignment>' is deprecated.
    bool threadgroup_use(const Line& line, Index token) {
        if (line.severity == Severity::note) {
            if (in_use_ && token != none && line.message.find("in instantiation of function template") == 0) {
                result_.threadgroup_uses.back().instantiation = token;
            }
            return in_use_;
        }
        in_use_ = line.severity == Severity::warning && line.message.find("slot<") != std::string_view::npos &&
                  line.message.find("is deprecated") != std::string_view::npos;
        if (!in_use_) {
            return false;
        }
        const std::string_view list = line.message.substr(0, line.message.find(">' is deprecated"));
        ThreadgroupUse use;
        use.token = token;
        std::array<std::string_view, 3> parts;
        std::string_view rest = list;
        for (std::size_t i = parts.size(); i-- > 0;) {
            const std::size_t comma = rest.rfind(", ");
            if (comma == std::string_view::npos) {
                return true;
            }
            parts[i] = rest.substr(comma + 2);
            rest = rest.substr(0, comma);
        }
        use.number = static_cast<std::uint32_t>(number_at(parts[0]));
        use.bytes = number_at(parts[1]);
        use.alignment = number_at(parts[2]);
        result_.threadgroup_uses.push_back(use);
        return true;
    }

    std::string_view file_;
    const Program& program_;
    const Rewritten& rewritten_;
    CompilerOutput result_;
    bool muted_ = false;
    bool awaiting_place_ = false;
    bool in_use_ = false;
    std::set<std::pair<std::uint32_t, std::uint32_t>> candidates_;
    static constexpr std::size_t max_candidates = 8;
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

// Every object that names no address space is in thread memory; a message says so of what is pointed at only.
std::string without_thread_variables(std::string_view message) {
    std::string result;
    bool quoted = false;
    for (std::size_t i = 0; i < message.size(); ++i) {
        constexpr std::string_view word = "thread";
        const std::string_view rest = message.substr(i);
        const bool at_word = quoted && rest.substr(0, word.size()) == word && rest.size() > word.size();
        const char next = at_word ? rest[word.size()] : ' ';
        const char before = i > 0 ? message[i - 1] : ' ';
        if (at_word && (before == '*' || before == '&') && (next == '\'' || next == ')' || next == ' ' || next == '*' || next == '&' || next == '[')) {
            i += word.size() - 1;
            continue;
        }
        if (at_word && before == '\'' && next == ' ' && rest.substr(0, rest.find('\'')).find_first_of("*&") == std::string_view::npos) {
            i += word.size();
            continue;
        }
        quoted = quoted != (message[i] == '\'');
        result += message[i];
    }
    return result;
}

}  // namespace

CompilerOutput read_compiler_output(std::string_view text, std::string_view file, const Program& program, const Rewritten& rewritten) {
    return Reader(file, program, rewritten).run(text);
}

namespace {

// In C++14 template arguments are deduced for functions alone.
std::string without_deduced_classes(std::string message) {
    constexpr std::string_view prefix = "no viable constructor or deduction guide for deduction of template arguments of ";
    constexpr std::string_view suffix = " may not intend to support class template argument deduction";
    std::string name;
    if (message.rfind(prefix, 0) == 0) {
        name = message.substr(prefix.size());
    } else if (const std::size_t at = message.find(suffix); at != std::string::npos) {
        name = message.substr(0, at);
    } else {
        return message;
    }
    return std::string("use of class template ").append(name).append(" requires template arguments");
}

}  // namespace

std::string in_metal_terms(std::string message) {
    message = without_deduced_classes(std::move(message));
    constexpr std::size_t max_length = 4000;
    if (message.size() > max_length) {
        message.resize(max_length);
        message += " …";
    }
    if (message.find("__") == std::string::npos && message.find("vec<") == std::string::npos &&
        message.find("OpenCL") == std::string::npos && message.find("CL") == std::string::npos &&
        message.find("internal linkage") == std::string::npos && message.find("global constructor") == std::string::npos) {
        return message;
    }
    static const std::array<std::pair<std::string_view, std::string_view>, 10> words{{
        {reserved_prefix, ""},
        {"__global_device", "device"},
        {"CLdevice", "device"},
        {"const __global", "const constant"},
        {"__global", "constant"},
        {"__local", "threadgroup"},
        {"__private", "thread"},
        {"__generic ", ""},
        {"C++ for OpenCL version 2021", "Metal"},
        {"C++ for OpenCL", "Metal"},
    }};
    for (const auto& [from, to] : words) {
        replace_all(message, from, to);
    }
    static const std::regex threadgroup_type("'[^']*__kfp_t[0-9]+[^']*' \\(aka '([^']*)'\\)");
    message = std::regex_replace(message, threadgroup_type, "'$1'");
    static const std::regex value_type("'[^']*value_of<[^']*' \\(aka '([^']*)'\\)");
    message = std::regex_replace(message, value_type, "'$1'");
    static const std::regex vector("(metal::|__kfp::)?vec<(unsigned )?([a-z_]+), ([234])>");
    std::string result;
    auto at = message.cbegin();
    for (std::sregex_iterator match(message.cbegin(), message.cend(), vector), end; match != end; ++match) {
        result.append(at, message.cbegin() + match->position());
        const std::string scalar = (*match)[3] == "__bf16" ? "bfloat" : (*match)[3].str();
        result += ((*match)[2].matched ? "u" : "") + scalar + (*match)[4].str();
        at = message.cbegin() + match->position() + match->length();
    }
    result.append(at, message.cend());
    replace_all(result, "__bf16", "bfloat");
    replace_all(result, "has internal linkage but is not defined", "is not defined");
    replace_all(result, "declaration requires a global constructor", "program scope variable must be initialized with a constant expression");
    replace_all(result, "__kfp::", "metal::");
    static const std::regex repeated("('[^']*') \\(aka \\1\\)");
    return std::regex_replace(without_thread_variables(result), repeated, "$1");
}

}  // namespace kfp::msl
