#include "msl/intermediate.hpp"

#include <array>

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

}  // namespace

// A function's attributes stand on lines of their own: `attributes #0 = { noinline nounwind ... }`.
std::string with_calls_in_line(std::string_view text) {
    std::string result;
    result.reserve(text.size() + 1024);
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end);
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
