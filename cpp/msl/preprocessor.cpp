#include "msl/preprocessor.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "msl/lexer.hpp"

namespace kfp::msl {
namespace {

// Of all macro expansions together: far beyond any real kernel, and still only some hundred megabytes.
constexpr std::size_t max_tokens = 1'000'000;
constexpr int max_nesting = 200;

struct Macro {
    std::string name;
    bool function_like = false;
    bool variadic = false;
    bool active = false;  // being expanded: its name stands for itself
    std::vector<std::string> parameters;
    std::vector<Token> body;

    std::optional<std::size_t> parameter(const Token& token) const {
        if (!token.is_identifier()) {
            return std::nullopt;
        }
        const auto at = std::find(parameters.begin(), parameters.end(), token.text);
        return at == parameters.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - parameters.begin()));
    }
};

struct TooMuch {
    Position position;
};
struct Fatal {};

constexpr std::string_view predefined =
    "#define __METAL__ 1\n#define __METAL_VERSION__ 320\n#define __METAL_MACOS__ 1\n#define __cplusplus 201402L\n"
    "#define __clang__ 1\n#define __clang_major__ 32023\n#define __clang_minor__ 0\n#define __APPLE__ 1\n#define __AIR64__ 1\n"
    "#define __HAVE_BFLOAT__ 1\n#define __HAVE_SIMDGROUP_MATRIX__ 1\n#define __HAVE_ATOMIC_FLOAT__ 1\n#define __LP64__ 1\n"
    "#define __HAVE_SIMDGROUP_REDUCTION__ 1\n#define __METAL_USE_FAST_MATH__ 1\n#define __STDC_HOSTED__ 1\n"
    "#define __FILE__ \"program_source\"\n#define __BASE_FILE__ __FILE__\n#define __FILE_NAME__ __FILE__\n"
    "#define __DATE__ \"Jan  1 1970\"\n#define __TIME__ \"00:00:00\"\n#define __TIMESTAMP__ \"Thu Jan  1 00:00:00 1970\"\n";

// Macros of the library that a program may ask for with #ifdef; the compiler expands them.
bool is_library_macro(std::string_view name) {
    static constexpr std::array prefixes{"M_", "FLT_", "HALF_", "BFLT_", "INT_M", "UINT_M", "SHRT_M", "USHRT_M", "CHAR_",
                                         "SCHAR_M", "UCHAR_M", "LONG_M", "ULONG_M"};
    static constexpr std::array names{"INFINITY", "NAN", "HUGE_VALF", "HUGE_VALH", "MAXFLOAT", "MAXHALF"};
    return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return name.substr(0, p.size()) == p; }) ||
           std::find(names.begin(), names.end(), name) != names.end();
}

class Preprocessor {
public:
    explicit Preprocessor(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    TokenStream run(std::string_view source) {
        try {
            raw_ = lex(predefined, diagnostics_);
            read();
            stream_ = {};
            raw_ = lex(source, diagnostics_);
            next_raw_ = 0;
            read();
            if (!conditionals_.empty()) {
                diagnostics_.error(conditionals_.back().position, "unterminated conditional directive");
            }
        } catch (const TooMuch& too_much) {
            diagnostics_.error(too_much.position, "macro expansion is too large: more than " + std::to_string(max_tokens) +
                                                      " tokens or " + std::to_string(max_nesting) + " levels");
        } catch (const Fatal&) {
            // Already reported: like the compiler, stop at a missing header.
        }
        if (stream_.tokens.empty() || stream_.tokens.back().kind != TokenKind::end) {
            stream_.tokens.push_back(raw_.back());
        }
        return std::move(stream_);
    }

private:
    struct Context {
        std::vector<Token> tokens;
        std::size_t next = 0;
        Macro* macro = nullptr;
    };
    struct Conditional {
        Position position;
        bool taken = false;      // some branch was taken
        bool emitting = false;   // this branch is
        bool seen_else = false;
    };

    // ---- sources of tokens

    void read() {
        for (;;) {
            Token token = next_expanded();
            if (token.kind != TokenKind::end && token.kind != TokenKind::pragma && !faultless(token)) {
                continue;
            }
            const bool last = token.kind == TokenKind::end;
            stream_.tokens.push_back(std::move(token));
            count(stream_.tokens.back());
            if (last) {
                return;
            }
        }
    }

    bool faultless(const Token& token) {
        const char first = token.text[0];
        if (token.kind == TokenKind::punctuator && (first == '"' || first == '\'')) {
            diagnostics_.error(stream_, token, std::string("missing terminating ") + first + " character");
            return false;
        }
        if (token.kind == TokenKind::punctuator && first == '#') {
            diagnostics_.error(stream_, token, "expected expression");
            return false;
        }
        return true;
    }

    void count(const Token& token) {
        if (++produced_ > max_tokens) {
            throw TooMuch{token.position};
        }
    }

    Token next_token() {
        while (!contexts_.empty()) {
            Context& top = contexts_.back();
            if (top.next < top.tokens.size()) {
                return top.tokens[top.next++];
            }
            if (top.macro != nullptr) {
                top.macro->active = false;
            }
            contexts_.pop_back();
        }
        if (isolated_) {
            Token end;
            end.kind = TokenKind::end;
            return end;
        }
        for (;;) {
            const Token& token = raw_[next_raw_];
            if (token.kind == TokenKind::end) {
                return token;
            }
            ++next_raw_;
            if (token.line_start && token.is("#") && token.kind == TokenKind::punctuator) {
                if (std::optional<Token> pragma = directive(token)) {
                    return *pragma;
                }
            } else if (emitting()) {
                return token;
            }
        }
    }

    Token next_expanded() {
        for (;;) {
            Token token = next_token();
            if (!token.is_identifier() || token.no_expand || !expand(token)) {
                return token;
            }
        }
    }

    std::vector<Token> expand_all(std::vector<Token> tokens) {
        if (++nesting_ > max_nesting) {
            throw TooMuch{tokens.empty() ? Position{} : tokens.front().position};
        }
        std::vector<Context> saved = std::exchange(contexts_, {});
        const bool was_isolated = std::exchange(isolated_, true);
        contexts_.push_back({std::move(tokens), 0, nullptr});
        std::vector<Token> result;
        for (Token token = next_expanded(); token.kind != TokenKind::end; token = next_expanded()) {
            count(token);
            result.push_back(std::move(token));
        }
        contexts_ = std::move(saved);
        isolated_ = was_isolated;
        --nesting_;
        return result;
    }

    // ---- macro expansion

    // True when the token was replaced: by whatever the contexts now hold. Else the token stands.
    bool expand(Token& token) {
        if (token.text == "__LINE__") {
            token.kind = TokenKind::number;
            token.text = std::to_string(token.position.line);
            return false;
        }
        if (token.text == "__COUNTER__") {
            token.kind = TokenKind::number;
            token.text = std::to_string(counter_++);
            return false;
        }
        if (token.text == "_Pragma") {
            return pragma_operator(token);
        }
        const auto found = macros_.find(token.text);
        if (found == macros_.end()) {
            return false;
        }
        Macro& macro = *found->second;
        if (macro.active) {
            token.no_expand = true;
            return false;
        }
        std::vector<std::vector<Token>> arguments;
        if (macro.function_like) {
            if (!opens_arguments()) {
                return false;
            }
            next_token();
            if (!collect_arguments(macro, token, arguments)) {
                return true;
            }
        }
        std::vector<Token> body = substitute(macro, token, arguments);
        if (!body.empty()) {
            body.front().line_start = token.line_start;
            body.front().space_before = token.space_before;
        }
        if (contexts_.size() > 10'000) {
            throw TooMuch{token.position};
        }
        macro.active = true;
        contexts_.push_back({std::move(body), 0, &macro});
        return true;
    }

    bool opens_arguments() {
        for (auto context = contexts_.rbegin(); context != contexts_.rend(); ++context) {
            if (context->next < context->tokens.size()) {
                return context->tokens[context->next].is("(");
            }
        }
        return !isolated_ && raw_[next_raw_].is("(");
    }

    bool collect_arguments(const Macro& macro, const Token& name, std::vector<std::vector<Token>>& arguments) {
        arguments.emplace_back();
        int depth = 0;
        for (;;) {
            Token token = next_token();
            if (token.kind == TokenKind::end) {
                diagnostics_.error(stream_, name, "unterminated function-like macro invocation");
                return false;
            }
            count(token);
            if (token.is(")") && depth == 0) {
                break;
            }
            depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
            const bool rest = macro.variadic && arguments.size() >= macro.parameters.size();
            if (token.is(",") && depth == 0 && !rest) {
                arguments.emplace_back();
                continue;
            }
            // A name that may not be expanded here and now may not be later either.
            if (token.is_identifier()) {
                const auto found = macros_.find(token.text);
                token.no_expand = token.no_expand || (found != macros_.end() && found->second->active);
            }
            arguments.back().push_back(std::move(token));
        }
        if (macro.parameters.empty() && arguments.size() == 1 && arguments[0].empty()) {
            arguments.clear();
        }
        if (macro.variadic && arguments.size() + 1 == macro.parameters.size()) {
            arguments.emplace_back();
        }
        if (arguments.size() != macro.parameters.size()) {
            diagnostics_.error(stream_, name, std::string("too ") + (arguments.size() < macro.parameters.size() ? "few" : "many") +
                                                  " arguments provided to function-like macro invocation");
            return false;
        }
        return true;
    }

    Token from_body(const Token& body_token, const Macro& macro, const Token& use) {
        Token token = body_token;
        stream_.origins.push_back({macro.name, body_token.position, use.origin});
        token.origin = static_cast<std::uint32_t>(stream_.origins.size() - 1);
        token.position = use.position;
        token.line_start = false;
        return token;
    }

    std::vector<Token> substitute(Macro& macro, const Token& use, const std::vector<std::vector<Token>>& arguments) {
        std::vector<Token> out;
        std::vector<std::optional<std::vector<Token>>> expanded(arguments.size());
        bool paste_next = false;
        bool left_is_empty = false;  // what stands left of a ## is an empty argument
        const auto append = [&](std::vector<Token> tokens, bool space) {
            if (!tokens.empty()) {
                tokens.front().space_before = space;
            }
            if (paste_next && !left_is_empty && !out.empty() && !tokens.empty()) {
                out.back() = paste(out.back(), tokens.front(), use);
                tokens.erase(tokens.begin());
            }
            left_is_empty = tokens.empty() && (!paste_next || left_is_empty);
            paste_next = false;
            for (Token& token : tokens) {
                token.line_start = false;
                count(token);
                out.push_back(std::move(token));
            }
        };
        for (std::size_t i = 0; i < macro.body.size(); ++i) {
            const Token& token = macro.body[i];
            const bool pasted_after = i + 1 < macro.body.size() && macro.body[i + 1].is("##");
            if (token.is("##")) {
                paste_next = true;
                // GNU's comma: `, ## __VA_ARGS__` without arguments drops the comma, with some it is no paste.
                const bool comma = !out.empty() && out.back().is(",") && macro.variadic && i + 1 < macro.body.size() &&
                                   macro.parameter(macro.body[i + 1]) == macro.parameters.size() - 1;
                if (comma) {
                    paste_next = false;
                    if (arguments.back().empty()) {
                        out.pop_back();
                    }
                }
                continue;
            }
            if (token.is("#") && macro.function_like && i + 1 < macro.body.size()) {
                if (const auto parameter = macro.parameter(macro.body[i + 1])) {
                    append({stringify(arguments[*parameter], from_body(token, macro, use))}, token.space_before);
                    ++i;
                    continue;
                }
            }
            const auto parameter = macro.parameter(token);
            if (!parameter) {
                append({from_body(token, macro, use)}, token.space_before);
            } else if (pasted_after || paste_next) {
                append(arguments[*parameter], token.space_before);
            } else {
                if (!expanded[*parameter]) {
                    expanded[*parameter] = expand_all(arguments[*parameter]);
                }
                append(*expanded[*parameter], token.space_before);
            }
        }
        return out;
    }

    Token paste(const Token& left, const Token& right, const Token& use) {
        Diagnostics ignored;
        std::vector<Token> tokens = lex(left.text + right.text, ignored);
        if (tokens.size() != 2 || ignored.has_errors()) {
            diagnostics_.error(stream_, use, "pasting formed '" + left.text + right.text + "', an invalid preprocessing token");
            return left;
        }
        Token result = left;
        result.kind = tokens[0].kind;
        result.text = std::move(tokens[0].text);
        result.no_expand = false;
        return result;
    }

    static Token stringify(const std::vector<Token>& argument, Token at) {
        at.kind = TokenKind::string;
        at.text = "\"";
        for (const Token& token : argument) {
            if ((token.space_before || token.line_start) && at.text.size() > 1) {
                at.text += ' ';
            }
            const bool quoted = token.kind == TokenKind::string || token.kind == TokenKind::character;
            for (const char c : token.text) {
                if (quoted && (c == '"' || c == '\\')) {
                    at.text += '\\';
                }
                at.text += c;
            }
        }
        at.text += '"';
        return at;
    }

    // ---- directives

    bool emitting() const { return conditionals_.empty() || conditionals_.back().emitting; }

    std::vector<Token> rest_of_line() {
        std::vector<Token> line;
        while (raw_[next_raw_].kind != TokenKind::end && !raw_[next_raw_].line_start) {
            line.push_back(raw_[next_raw_++]);
        }
        return line;
    }

    // A pragma for the compiler comes back as a token.
    std::optional<Token> directive(const Token& hash) {
        std::vector<Token> line = rest_of_line();
        if (line.empty()) {
            return std::nullopt;
        }
        const Token name = line.front();
        line.erase(line.begin());
        if (conditional(name, line) || !emitting()) {
            return std::nullopt;
        }
        if (name.is("define")) {
            define(name, line);
        } else if (name.is("undef")) {
            if (line.empty() || !line[0].is_identifier()) {
                diagnostics_.error(name.position, "macro name missing");
            } else {
                macros_.erase(line[0].text);
            }
        } else if (name.is("include")) {
            include(name, line);
        } else if (name.is("error") || name.is("warning")) {
            std::string text;
            for (const Token& token : line) {
                text += (text.empty() || !token.space_before ? "" : " ") + token.text;
            }
            name.is("error") ? diagnostics_.error(name.position, text) : diagnostics_.warning(name.position, text);
        } else if (name.is("pragma")) {
            return pragma(hash.position, expandable_pragma(line) ? expand_all(std::move(line)) : std::move(line));
        } else if (name.is("line")) {
            // Our diagnostics name the lines of the text that we were given.
        } else if (name.is_identifier()) {
            diagnostics_.error(name.position, is_file_directive(name.text)
                                                  ? "#" + name.text + " is not supported in Metal runtime compilation"
                                                  : "invalid preprocessing directive");
        } else if (name.kind != TokenKind::number) {
            diagnostics_.error(name.position, "invalid preprocessing directive");
        }
        return std::nullopt;
    }

    static bool is_file_directive(std::string_view name) {
        return name == "import" || name == "include_next" || name == "embed" || name == "__include_macros";
    }

    // Handles the directive if it is a conditional one.
    bool conditional(const Token& name, std::vector<Token>& line) {
        const bool opens = name.is("if") || name.is("ifdef") || name.is("ifndef");
        if (opens) {
            Conditional entry{name.position, false, false, false};
            if (!emitting()) {
                entry.taken = true;
            } else {
                entry.taken = entry.emitting = holds(name, line);
            }
            conditionals_.push_back(entry);
            return true;
        }
        const bool elif = name.is("elif") || name.is("elifdef") || name.is("elifndef");
        if (!elif && !name.is("else") && !name.is("endif")) {
            return false;
        }
        if (conditionals_.empty()) {
            diagnostics_.error(name.position, "#" + name.text + " without #if");
            return true;
        }
        Conditional& entry = conditionals_.back();
        if (name.is("endif")) {
            conditionals_.pop_back();
        } else if (entry.seen_else) {
            diagnostics_.error(name.position, "#" + name.text + " after #else");
        } else if (elif) {
            entry.emitting = !entry.taken && holds(name, line);
            entry.taken = entry.taken || entry.emitting;
        } else {
            entry.seen_else = true;
            entry.emitting = !entry.taken;
            entry.taken = true;
        }
        return true;
    }

    bool is_defined(const Token& name) const {
        return macros_.count(name.text) != 0 || name.text == "__LINE__" || name.text == "__COUNTER__" ||
               (stream_.includes_metal && is_library_macro(name.text));
    }

    bool holds(const Token& name, const std::vector<Token>& line) {
        if (!name.is("if") && !name.is("elif")) {
            if (line.empty() || !line[0].is_identifier()) {
                diagnostics_.error(name.position, "macro name missing");
                return false;
            }
            const bool negated = name.is("ifndef") || name.is("elifndef");
            return is_defined(line[0]) != negated;
        }
        std::vector<Token> operands;
        for (std::size_t i = 0; i < line.size(); ++i) {
            Token token = line[i];
            const bool is_query = token.is_identifier() && token.text.substr(0, 6) == "__has_";
            if (token.is("defined") || is_query) {
                token.text = query(line, i) ? "1" : "0";
                token.kind = TokenKind::number;
            }
            operands.push_back(std::move(token));
        }
        return evaluate_condition(expand_all(std::move(operands)), name.position, diagnostics_);
    }

    // `defined X`, `defined(X)` and `__has_…(…)` at line[i]; leaves i at the last token read.
    bool query(const std::vector<Token>& line, std::size_t& i) {
        const Token name = line[i];
        const bool parenthesised = i + 1 < line.size() && line[i + 1].is("(");
        if (name.is("defined") && !parenthesised) {
            if (i + 1 >= line.size() || !line[i + 1].is_identifier()) {
                diagnostics_.error(name.position, "macro name missing");
                return false;
            }
            return is_defined(line[++i]);
        }
        std::string text;
        std::vector<Token> inside;
        int depth = 0;
        while (++i < line.size()) {
            depth += line[i].is("(") ? 1 : line[i].is(")") ? -1 : 0;
            if (depth == 0) {
                break;
            }
            if (!(line[i].is("(") && depth == 1)) {
                text += line[i].text;
                inside.push_back(line[i]);
            }
        }
        if (depth != 0 || inside.empty()) {
            diagnostics_.error(name.position, "missing '(' or ')' after '" + name.text + "'");
            return false;
        }
        if (name.is("defined")) {
            return is_defined(inside[0]);
        }
        if (name.is("__has_include")) {
            return text.size() > 2 && is_metal_header(text.substr(1, text.size() - 2));
        }
        return name.is("__has_builtin") && is_permitted_builtin(text);
    }

    void define(const Token& name, const std::vector<Token>& line) {
        if (line.empty() || !line[0].is_identifier()) {
            diagnostics_.error(line.empty() ? name.position : line[0].position,
                               line.empty() ? "macro name missing" : "macro name must be an identifier");
            return;
        }
        if (line[0].is("defined") || line[0].is("_Pragma")) {
            diagnostics_.error(line[0].position, "'" + line[0].text + "' cannot be used as a macro name");
            return;
        }
        auto macro = std::make_unique<Macro>();
        macro->name = line[0].text;
        std::size_t i = 1;
        if (i < line.size() && line[i].is("(") && !line[i].space_before) {
            macro->function_like = true;
            if (!parameters(*macro, line, ++i)) {
                return;
            }
        }
        macro->body.assign(line.begin() + static_cast<std::ptrdiff_t>(i), line.end());
        if (!macro->body.empty() && (macro->body.front().is("##") || macro->body.back().is("##"))) {
            diagnostics_.error(macro->body.front().position, "'##' cannot appear at either end of a macro expansion");
            return;
        }
        if (const auto old = macros_.find(macro->name); old != macros_.end() && old->second->active) {
            retired_.push_back(std::move(old->second));
        }
        macros_[line[0].text] = std::move(macro);
    }

    bool parameters(Macro& macro, const std::vector<Token>& line, std::size_t& i) {
        bool expect_name = true;
        for (; i < line.size(); ++i) {
            const Token& token = line[i];
            if (token.is(")") && (!expect_name || macro.parameters.empty())) {
                ++i;
                return true;
            }
            if (expect_name && token.is("...")) {
                macro.variadic = true;
                macro.parameters.emplace_back("__VA_ARGS__");
            } else if (expect_name && token.is_identifier() && !macro.variadic) {
                macro.parameters.push_back(token.text);
            } else if (!expect_name && token.is("...") && !macro.variadic) {
                macro.variadic = true;
                continue;
            } else if (expect_name || !token.is(",")) {
                diagnostics_.error(token.position, "invalid token in macro parameter list");
                return false;
            }
            expect_name = !expect_name;
        }
        diagnostics_.error(line[0].position, "missing ')' in macro parameter list");
        return false;
    }

    void include(const Token& name, std::vector<Token>& line) {
        if (!line.empty() && line[0].is_identifier()) {
            line = expand_all(std::move(line));
        }
        std::string file;
        if (line.size() == 1 && line[0].kind == TokenKind::string) {
            file = line[0].text.substr(1, line[0].text.size() - 2);
        } else if (line.size() > 2 && line.front().is("<") && line.back().is(">")) {
            for (std::size_t i = 1; i + 1 < line.size(); ++i) {
                file += line[i].text;
            }
        } else {
            diagnostics_.error(line.empty() ? name.position : line[0].position, "expected \"FILENAME\" or <FILENAME>");
            return;
        }
        if (!is_metal_header(file)) {
            diagnostics_.error(line[0].position, "'" + file + "' file not found");
            throw Fatal{};
        }
        stream_.includes_metal = true;
    }

    // ---- pragmas

    static bool expandable_pragma(const std::vector<Token>& line) {
        return !line.empty() && (line[0].is("unroll") || line[0].is("clang"));
    }

    std::optional<Token> pragma(Position at, const std::vector<Token>& line) {
        const auto second = [&](std::string_view word) { return line.size() > 1 && line[1].is(word); };
        const bool for_compiler =
            !line.empty() && (line[0].is("unroll") || line[0].is("nounroll") || line[0].is("pack") ||
                              (line[0].is("clang") && (second("loop") || second("fp"))) || (line[0].is("STDC") && second("FP_CONTRACT")));
        if (!for_compiler) {
            if (!line.empty() && line[0].is("clang") && (second("attribute") || second("section"))) {
                diagnostics_.error(at, "#pragma clang " + line[1].text + " is not supported");
            }
            return std::nullopt;
        }
        Token token;
        token.kind = TokenKind::pragma;
        token.position = at;
        token.line_start = true;
        token.text = "pragma";
        for (const Token& part : line) {
            token.text += ' ' + part.text;
        }
        return token;
    }

    bool pragma_operator(const Token& name) {
        const Token open = next_token();
        const Token text = next_token();
        const Token close = next_token();
        if (!open.is("(") || text.kind != TokenKind::string || !close.is(")")) {
            diagnostics_.error(stream_, name, "_Pragma takes a parenthesized string literal");
            return true;
        }
        std::string inner;
        for (std::size_t i = 1; i + 1 < text.text.size(); ++i) {
            i += text.text[i] == '\\' && i + 2 < text.text.size() ? 1U : 0U;
            inner += text.text[i];
        }
        Diagnostics ignored;
        std::vector<Token> line = lex(inner, ignored);
        line.pop_back();
        if (std::optional<Token> token = pragma(name.position, line)) {
            contexts_.push_back({{*token}, 0, nullptr});
        }
        return true;
    }

    Diagnostics& diagnostics_;
    TokenStream stream_;
    std::vector<Token> raw_;
    std::size_t next_raw_ = 0;
    std::vector<Context> contexts_;
    bool isolated_ = false;
    std::map<std::string, std::unique_ptr<Macro>, std::less<>> macros_;
    std::vector<std::unique_ptr<Macro>> retired_;
    std::vector<Conditional> conditionals_;
    std::size_t produced_ = 0;
    std::size_t counter_ = 0;
    int nesting_ = 0;
};

}  // namespace

TokenStream preprocess(std::string_view source, Diagnostics& diagnostics) { return Preprocessor(diagnostics).run(source); }

}  // namespace kfp::msl
