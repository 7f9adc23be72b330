#include "msl/lexer.hpp"

#include <array>
#include <cctype>
#include <utility>

namespace kfp::msl {
namespace {

constexpr int end_of_source = -1;

// The source without line splices, with line and column of the next character.
class Reader {
public:
    explicit Reader(std::string_view source) : source_(source) {
        if (source_.substr(0, 3) == "\xEF\xBB\xBF") {
            next_ = 3;
        }
        skip_splices();
    }

    int peek(std::size_t ahead = 0) const {
        Reader probe = *this;
        for (; ahead > 0; --ahead) {
            probe.take();
        }
        return probe.current();
    }

    int take() {
        const int c = current();
        if (c == end_of_source) {
            return c;
        }
        advance();
        skip_splices();
        return c;
    }

    Position position() const { return position_; }

private:
    int current() const {
        if (next_ >= source_.size()) {
            return end_of_source;
        }
        const char c = source_[next_];
        return c == '\r' ? '\n' : static_cast<unsigned char>(c);
    }

    bool at_newline(std::size_t at) const { return at < source_.size() && (source_[at] == '\n' || source_[at] == '\r'); }

    void advance() {
        if (at_newline(next_)) {
            next_ += source_.substr(next_, 2) == "\r\n" ? 2U : 1U;
            ++position_.line;
            position_.column = 1;
        } else {
            ++next_;
            ++position_.column;
        }
    }

    void skip_splices() {
        while (next_ < source_.size() && source_[next_] == '\\') {
            std::size_t at = next_ + 1;
            while (at < source_.size() && (source_[at] == ' ' || source_[at] == '\t')) {
                ++at;
            }
            if (!at_newline(at)) {
                return;
            }
            next_ = at;
            advance();
        }
    }

    std::string_view source_;
    std::size_t next_ = 0;
    Position position_{1, 1};
};

bool starts_identifier(int c) { return c == '_' || c == '$' || c >= 0x80 || (c > 0 && std::isalpha(c) != 0); }
bool continues_identifier(int c) { return starts_identifier(c) || (c >= '0' && c <= '9'); }
bool is_digit(int c) { return c >= '0' && c <= '9'; }

constexpr std::array punctuators3{"<<=", ">>=", "...", "->*"};
constexpr std::array punctuators2{"->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=",
                                  "*=", "/=", "%=", "&=", "|=", "^=", "::", "##", ".*"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> digraphs{
    {{"%:%:", "##"}, {"%:", "#"}, {"<:", "["}, {":>", "]"}, {"<%", "{"}, {"%>", "}"}}};

class Lexer {
public:
    Lexer(std::string_view source, Diagnostics& diagnostics) : reader_(source), diagnostics_(diagnostics) {}

    std::vector<Token> run() {
        while (skip_space()) {
            token_.position = reader_.position();
            token_.text.clear();
            lex_token();
        }
        token_.position = reader_.position();
        token_.kind = TokenKind::end;
        token_.text.clear();
        token_.line_start = true;
        tokens_.push_back(token_);
        return std::move(tokens_);
    }

private:
    // False at the end of the source.
    bool skip_space() {
        token_.line_start = tokens_.empty();
        token_.space_before = false;
        for (;;) {
            const int c = reader_.peek();
            if (c == end_of_source) {
                return false;
            }
            if (c == '\n') {
                token_.line_start = true;
                reader_.take();
            } else if (c == ' ' || c == '\t' || c == '\v' || c == '\f') {
                reader_.take();
            } else if (c == '\0') {
                diagnostics_.error(reader_.position(), "null character in the source");
                reader_.take();
            } else if (c == '/' && reader_.peek(1) == '/') {
                while (reader_.peek() != '\n' && reader_.peek() != end_of_source) {
                    reader_.take();
                }
            } else if (c == '/' && reader_.peek(1) == '*') {
                skip_block_comment();
            } else {
                return true;
            }
            token_.space_before = true;
        }
    }

    void skip_block_comment() {
        const Position start = reader_.position();
        reader_.take();
        reader_.take();
        while (!(reader_.peek() == '*' && reader_.peek(1) == '/')) {
            if (reader_.take() == end_of_source) {
                diagnostics_.error(start, "unterminated /* comment");
                return;
            }
        }
        reader_.take();
        reader_.take();
    }

    void lex_token() {
        const int c = reader_.peek();
        if (is_digit(c) || (c == '.' && is_digit(reader_.peek(1)))) {
            lex_number();
        } else if (starts_identifier(c)) {
            lex_identifier();
        } else if (c == '"') {
            lex_quoted('"', TokenKind::string);
        } else if (c == '\'') {
            lex_quoted('\'', TokenKind::character);
        } else {
            lex_punctuator();
        }
    }

    void lex_number() {
        for (;;) {
            const int c = reader_.peek();
            const int last = token_.text.empty() ? 0 : token_.text.back();
            const bool exponent_sign = (c == '+' || c == '-') && (last == 'e' || last == 'E' || last == 'p' || last == 'P');
            const bool separator = c == '\'' && continues_identifier(reader_.peek(1));
            if (!(continues_identifier(c) || c == '.' || separator) && !exponent_sign) {
                break;
            }
            // In a hexadecimal number 'e' is a digit, and a sign after it an operator.
            if (exponent_sign && (last == 'e' || last == 'E') && token_.text.size() > 1 &&
                (token_.text[1] == 'x' || token_.text[1] == 'X')) {
                break;
            }
            append(reader_.take());
        }
        emit(TokenKind::number);
    }

    void lex_identifier() {
        while (continues_identifier(reader_.peek())) {
            append(reader_.take());
        }
        const std::string& text = token_.text;
        const int quote = reader_.peek();
        const bool raw = text == "R" || text == "LR" || text == "uR" || text == "UR" || text == "u8R";
        const bool encoded = text == "L" || text == "u" || text == "U" || text == "u8";
        if (quote == '"' && raw) {
            diagnostics_.error(token_.position, "raw string literals are not supported in Metal");
        }
        if ((quote == '"' && (raw || encoded)) || (quote == '\'' && encoded)) {
            lex_quoted(quote, quote == '"' ? TokenKind::string : TokenKind::character);
            return;
        }
        emit(TokenKind::identifier);
    }

    void lex_quoted(int quote, TokenKind kind) {
        append(reader_.take());
        for (;;) {
            const int c = reader_.peek();
            if (c == '\n' || c == end_of_source) {
                // An apostrophe in a skipped or #error line is no fault; the preprocessor reports the others.
                emit(TokenKind::punctuator);
                return;
            }
            append(reader_.take());
            if (c == '\\' && reader_.peek() != '\n' && reader_.peek() != end_of_source) {
                append(reader_.take());
            } else if (c == quote) {
                break;
            }
        }
        emit(kind);
    }

    void lex_punctuator() {
        std::array<char, 4> ahead{};
        std::size_t length = 0;
        for (Reader probe = reader_; length < ahead.size(); ++length) {
            const int c = probe.take();
            if (c == end_of_source || c > 0x7f) {
                break;
            }
            ahead[length] = static_cast<char>(c);
        }
        const std::string_view text(ahead.data(), length);
        for (const auto& [digraph, meaning] : digraphs) {
            // "<::" is "<" and "::" unless another ':' or a '>' follows.
            const bool scope = digraph == "<:" && text.substr(0, 3) == "<::" && text != "<:::" && text != "<::>";
            if (text.substr(0, digraph.size()) == digraph && !scope) {
                take(digraph.size());
                token_.text = meaning;
                emit(TokenKind::punctuator);
                return;
            }
        }
        std::size_t size = 1;
        for (const std::string_view candidate : punctuators2) {
            size = text.substr(0, 2) == candidate ? 2 : size;
        }
        for (const std::string_view candidate : punctuators3) {
            size = text.substr(0, 3) == candidate ? 3 : size;
        }
        take(size);
        emit(TokenKind::punctuator);
    }

    void take(std::size_t count) {
        for (; count > 0; --count) {
            append(reader_.take());
        }
    }

    void append(int c) { token_.text.push_back(static_cast<char>(c)); }

    void emit(TokenKind kind) {
        token_.kind = kind;
        tokens_.push_back(token_);
    }

    Reader reader_;
    Diagnostics& diagnostics_;
    Token token_;
    std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view source, Diagnostics& diagnostics) { return Lexer(source, diagnostics).run(); }

void Diagnostics::add(Severity severity, Position at, std::string message) {
    if (severity == Severity::error && ++errors_ > max_errors) {
        return;
    }
    list_.push_back({severity, at.line, at.column, std::move(message)});
}

void Diagnostics::append(const std::vector<Diagnostic>& more) {
    for (const Diagnostic& diagnostic : more) {
        add(diagnostic.severity, {diagnostic.line, diagnostic.column}, diagnostic.message);
    }
}

void Diagnostics::error(const TokenStream& stream, const Token& at, std::string message) {
    if (full()) {
        return;
    }
    error(at.position, std::move(message));
    append(macro_notes(stream, at));
}

std::vector<Diagnostic> macro_notes(const TokenStream& stream, const Token& token) {
    std::vector<Diagnostic> notes;
    for (std::uint32_t origin = token.origin; origin != 0 && notes.size() < 6; origin = stream.origins[origin].parent) {
        const Origin& from = stream.origins[origin];
        notes.insert(notes.begin(), {Severity::note, from.place.line, from.place.column,
                                     "expanded from macro '" + from.macro + "'"});
    }
    return notes;
}

}  // namespace kfp::msl
