#include "msl/intermediate.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace kfp::msl {
namespace {

bool is_word_part(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '"'; }

// `line` without `word`, where that stands alone.
void remove_word(std::string& line, std::string_view word) {
    for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
        const bool begins = at == 0 || !is_word_part(line[at - 1]);
        const bool ends = at + word.size() == line.size() || !is_word_part(line[at + word.size()]);
        if (begins && ends) {
            line.erase(at, word.size());
        }
    }
}

// Lines of the text with all calls put in line.
constexpr double most_lines = 12000.0;
constexpr double least_saved = 600.0;  // what saves less is not worth being left out
constexpr std::string_view out_of_line_group = "#4294967295";

struct FunctionText {
    double lines = 0.0;
    std::map<std::string, double, std::less<>> calls;  // how often each is called
};

// The name behind the '@' at `at`, up to the '('.
std::string_view name_at(std::string_view line, std::size_t at) {
    const std::size_t open = line.find('(', at);
    return open == std::string_view::npos ? std::string_view{} : line.substr(at + 1, open - at - 1);
}

// The function that a line defines or calls; empty where it does neither.
std::string_view defined_or_called(std::string_view line) {
    const std::size_t word = line.starts_with("define ") ? 0 : line.find("call ");
    const std::size_t at = word == std::string_view::npos ? word : line.find('@', word);
    return at == std::string_view::npos ? std::string_view{} : name_at(line, at);
}

class CallGraph {
public:
    explicit CallGraph(std::string_view text) {
        FunctionText* current = nullptr;
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
            read(text.substr(0, end), current);
            text.remove_prefix(end);
        }
    }

    // Those without which the kernels stay short enough: each time the one that would save the most.
    std::set<std::string, std::less<>> out_of_line() {
        std::set<std::string, std::less<>> chosen;
        while (chosen.size() < functions_.size()) {
            weigh(chosen);
            if (total_ <= most_lines) {
                break;
            }
            const auto most = std::max_element(savings_.begin(), savings_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
            if (most == savings_.end() || most->second < least_saved) {
                break;
            }
            chosen.insert(most->first);
        }
        return chosen;
    }

private:
    static bool is_entry(std::string_view name) { return name.starts_with("__kfp_thread_") || name.starts_with("__kfp_group_"); }

    void read(std::string_view line, FunctionText*& current) {
        if (line.starts_with("define ")) {
            const std::size_t at = line.find('@');
            current = at == std::string_view::npos ? nullptr : &functions_[std::string(name_at(line, at))];
        } else if (line.starts_with("}")) {
            current = nullptr;
        } else if (current != nullptr) {
            current->lines += 1.0;
            if (const std::string_view callee = defined_or_called(line); !callee.empty()) {
                current->calls[std::string(callee)] += 1.0;
            }
        }
    }

    // How many lines each function would save, and how many there are.
    void weigh(const std::set<std::string, std::less<>>& apart) {
        std::vector<std::string> callees_first;
        std::set<std::string, std::less<>> seen;
        for (const auto& [name, function] : functions_) {
            if (is_entry(name)) {
                visit(name, apart, seen, callees_first);
            }
        }
        std::map<std::string, double, std::less<>> times;
        savings_.clear();
        total_ = 0.0;
        for (auto name = callees_first.rbegin(); name != callees_first.rend(); ++name) {
            const FunctionText& function = functions_.find(*name)->second;
            const double copies = is_entry(*name) ? 1.0 : times[*name];
            total_ += copies * function.lines;
            if (!is_entry(*name)) {
                savings_[*name] = (copies - 1.0) * function.lines;
            }
            for (const auto& [callee, calls] : function.calls) {
                times[callee] += copies * calls;
            }
        }
    }

    void visit(const std::string& name, const std::set<std::string, std::less<>>& apart, std::set<std::string, std::less<>>& seen,
               std::vector<std::string>& callees_first) const {
        const auto found = functions_.find(name);
        if (found == functions_.end() || apart.count(name) != 0 || !seen.insert(name).second) {
            return;
        }
        for (const auto& [callee, calls] : found->second.calls) {
            visit(callee, apart, seen, callees_first);
        }
        callees_first.push_back(name);
    }

    std::map<std::string, FunctionText, std::less<>> functions_;
    std::map<std::string, double, std::less<>> savings_;  // lines that one copy of a function instead of all would save
    double total_ = 0.0;
};

// `define ... @name(...) #3 ... {` with another group of attributes.
std::string with_group(std::string_view line, std::string_view group) {
    std::string changed(line);
    const std::size_t hash = changed.rfind(" #");
    if (hash != std::string::npos) {
        const std::size_t end = std::min(changed.find_first_not_of("0123456789", hash + 2), changed.size());
        changed.replace(hash + 1, end - hash - 1, group);
    }
    return changed;
}

}  // namespace

// A function's attributes stand on lines of their own: `attributes #0 = { noinline nounwind ... }`.
std::string with_calls_in_line(std::string_view text) {
    const std::set<std::string, std::less<>> apart = CallGraph(text).out_of_line();
    std::string result;
    result.reserve(text.size() + 1024);
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end);
        if (const std::string_view function = apart.empty() ? std::string_view{} : defined_or_called(line);
            !function.empty() && apart.count(function) != 0) {
            result += with_group(line, out_of_line_group);
            continue;
        }
        const std::size_t brace = line.find('{');
        if (!line.starts_with("attributes #") || brace == std::string_view::npos) {
            result += line;
            continue;
        }
        std::string changed(line);
        for (const std::string_view word : {"noinline", "optnone", "alwaysinline"}) {
            remove_word(changed, word);
        }
        result += changed.insert(brace + 1, " alwaysinline");
    }
    if (!apart.empty()) {
        result.append("\nattributes ").append(out_of_line_group).append(" = { noinline nounwind }\n");
    }
    return result;
}

SourceMap source_map(const TokenStream& stream, const Rewritten& rewritten) {
    SourceMap map;
    map.tokens.reserve(stream.tokens.size());
    for (const Token& token : stream.tokens) {
        map.tokens.push_back({token.position.line, token.position.column, token.origin, token.text});
    }
    for (const Origin& origin : stream.origins) {
        map.origins.push_back({origin.macro, origin.place.line, origin.place.column, origin.parent});
    }
    map.lines.reserve(rewritten.lines.size());
    for (const RewrittenLine& line : rewritten.lines) {
        map.lines.push_back(line.token == none ? SourceMap::nowhere : line.token);
    }
    return map;
}

}  // namespace kfp::msl
