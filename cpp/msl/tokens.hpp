// What the front end works on: the preprocessed tokens of one source text, each with its place in the user's own lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"

namespace kfp::msl {

struct Position {
    std::uint32_t line = 0;  // 1-based, as is the column, which counts bytes; 0 where there is no place to point at
    std::uint32_t column = 0;
    friend bool operator==(const Position&, const Position&) = default;
};

enum class TokenKind : std::uint8_t {
    identifier,  // keywords too
    number,
    character,
    string,
    punctuator,
    pragma,  // one whole directive, as text without the '#'; only those that the compiler may see
    end,
};

struct Token {
    TokenKind kind = TokenKind::end;
    bool line_start = false;
    bool space_before = false;
    bool no_expand = false;     // a macro's own name within its expansion
    std::uint32_t origin = 0;   // index into TokenStream::origins; 0: written out in the source
    Position position;          // where a diagnostic about it points
    std::string text;

    bool is(std::string_view spelling) const { return kind != TokenKind::string && text == spelling; }
    bool is_identifier() const { return kind == TokenKind::identifier; }
};

// How a token came out of a macro: the place in the macro's definition, and the same for the use of that macro.
struct Origin {
    std::string macro;
    Position place;
    std::uint32_t parent = 0;
};

struct TokenStream {
    std::vector<Token> tokens;  // the last one is TokenKind::end
    std::vector<Origin> origins = std::vector<Origin>(1);
    bool includes_metal = false;
};

class Diagnostics {
public:
    void error(Position at, std::string message) { add(Severity::error, at, std::move(message)); }
    void warning(Position at, std::string message) { add(Severity::warning, at, std::move(message)); }
    void note(Position at, std::string message) { add(Severity::note, at, std::move(message)); }
    // An error about a token, with a note for every macro that it came out of.
    void error(const TokenStream& stream, const Token& at, std::string message);
    void append(const std::vector<Diagnostic>& more);
    bool has_errors() const { return errors_ != 0; }
    bool full() const { return errors_ >= max_errors; }
    const std::vector<Diagnostic>& list() const { return list_; }

    static constexpr std::size_t max_errors = 20;

private:
    void add(Severity severity, Position at, std::string message);
    std::vector<Diagnostic> list_;
    std::size_t errors_ = 0;
};

// The notes that name the macros a token came out of, outermost first.
std::vector<Diagnostic> macro_notes(const TokenStream& stream, const Token& token);

}  // namespace kfp::msl
