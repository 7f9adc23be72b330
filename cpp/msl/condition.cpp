// The integer expressions of #if and #elif.
#include <charconv>
#include <optional>
#include <string>

#include "msl/preprocessor.hpp"

namespace kfp::msl {
namespace {

struct ConditionError {
    Position position;
    std::string message;
};

struct Value {
    std::uint64_t bits = 0;
    bool is_unsigned = false;
    bool negative() const { return !is_unsigned && static_cast<std::int64_t>(bits) < 0; }
};

int precedence(const Token& token) {
    if (token.kind != TokenKind::punctuator) {
        return 0;
    }
    const std::string& t = token.text;
    if (t == "*" || t == "/" || t == "%") return 10;
    if (t == "+" || t == "-") return 9;
    if (t == "<<" || t == ">>") return 8;
    if (t == "<" || t == ">" || t == "<=" || t == ">=") return 7;
    if (t == "==" || t == "!=") return 6;
    if (t == "&") return 5;
    if (t == "^") return 4;
    if (t == "|") return 3;
    if (t == "&&") return 2;
    if (t == "||") return 1;
    return 0;
}

class Condition {
public:
    Condition(const std::vector<Token>& tokens, Position directive) : tokens_(tokens), directive_(directive) {}

    std::uint64_t run() {
        if (tokens_.empty()) {
            throw ConditionError{directive_, "expected value in preprocessor expression"};
        }
        const Value value = conditional();
        if (next_ != tokens_.size()) {
            throw ConditionError{peek()->position, "token is not a valid binary operator in a preprocessor subexpression"};
        }
        return value.bits;
    }

private:
    const Token* peek() const { return next_ < tokens_.size() ? &tokens_[next_] : nullptr; }
    bool accept(std::string_view text) {
        if (peek() != nullptr && peek()->is(text)) {
            ++next_;
            return true;
        }
        return false;
    }
    [[noreturn]] void fail(std::string message) const {
        throw ConditionError{peek() != nullptr ? peek()->position : tokens_.back().position, std::move(message)};
    }

    Value conditional() {
        enter();
        const Value value = conditional_inner();
        --depth_;
        return value;
    }

    void enter() {
        if (++depth_ > 400) {
            fail("preprocessor expression is nested too deeply");
        }
    }

    Value conditional_inner() {
        const Value condition = binary(1);
        if (!accept("?")) {
            return condition;
        }
        const bool taken = condition.bits != 0;
        muted_ += taken ? 0 : 1;
        const Value yes = conditional();
        muted_ -= taken ? 0 : 1;
        if (!accept(":")) {
            fail("expected ':'");
        }
        muted_ += taken ? 1 : 0;
        const Value no = conditional();
        muted_ -= taken ? 1 : 0;
        return {taken ? yes.bits : no.bits, yes.is_unsigned || no.is_unsigned};
    }

    Value binary(int minimum) {
        Value left = unary();
        while (peek() != nullptr && precedence(*peek()) >= minimum) {
            const Token& op = tokens_[next_++];
            const bool decided = (op.is("&&") && left.bits == 0) || (op.is("||") && left.bits != 0);
            muted_ += decided ? 1 : 0;
            const Value right = binary(precedence(op) + 1);
            muted_ -= decided ? 1 : 0;
            left = apply(op, left, right);
        }
        return left;
    }

    Value unary() {
        enter();
        const Value value = unary_inner();
        --depth_;
        return value;
    }

    Value unary_inner() {
        if (accept("!")) return {unary().bits == 0 ? 1U : 0U, false};
        if (accept("~")) {
            const Value v = unary();
            return {~v.bits, v.is_unsigned};
        }
        if (accept("-")) {
            const Value v = unary();
            return {~v.bits + 1, v.is_unsigned};
        }
        if (accept("+")) return unary();
        if (accept("(")) {
            const Value v = conditional();
            if (!accept(")")) {
                fail("expected ')' in preprocessor expression");
            }
            return v;
        }
        if (peek() == nullptr) {
            fail("expected value in expression");
        }
        const Token& token = tokens_[next_];
        if (token.kind == TokenKind::identifier) {
            ++next_;
            return {token.text == "true" ? 1U : 0U, false};
        }
        if (token.kind == TokenKind::number) {
            ++next_;
            return number(token);
        }
        if (token.kind == TokenKind::character && token.text.size() == 3) {
            ++next_;
            return {static_cast<unsigned char>(token.text[1]), false};
        }
        fail("invalid token in a preprocessor expression");
    }

    Value number(const Token& token) const {
        std::string digits;
        for (const char c : token.text) {
            if (c != '\'') {
                digits.push_back(c);
            }
        }
        Value value;
        while (!digits.empty() && std::string_view("uUlL").find(digits.back()) != std::string_view::npos) {
            value.is_unsigned = value.is_unsigned || digits.back() == 'u' || digits.back() == 'U';
            digits.pop_back();
        }
        int base = 10;
        std::size_t skip = 0;
        if (digits.size() > 1 && digits[0] == '0') {
            const char mark = static_cast<char>(digits[1] | 0x20);
            base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
            skip = base == 8 ? 1 : 2;
        }
        const char* const last = digits.data() + digits.size();
        const auto [end, error] = std::from_chars(digits.data() + skip, last, value.bits, base);
        if (error != std::errc{} || end != last) {
            throw ConditionError{token.position, token.text.find('.') != std::string::npos
                                                     ? "floating point literal in preprocessor expression"
                                                     : "invalid integer '" + token.text + "' in preprocessor expression"};
        }
        value.is_unsigned = value.is_unsigned || value.negative();
        return value;
    }

    Value apply(const Token& op, Value a, Value b) const {
        const bool u = a.is_unsigned || b.is_unsigned;
        const std::string& t = op.text;
        const auto truth = [](bool v) { return Value{v ? 1U : 0U, false}; };
        const auto less = [u](Value l, Value r) {
            return u ? l.bits < r.bits : static_cast<std::int64_t>(l.bits) < static_cast<std::int64_t>(r.bits);
        };
        if (t == "*") return {a.bits * b.bits, u};
        if (t == "+") return {a.bits + b.bits, u};
        if (t == "-") return {a.bits - b.bits, u};
        if (t == "/" || t == "%") return divide(op, a, b, u);
        if (t == "<<") return {b.bits < 64 ? a.bits << b.bits : 0, a.is_unsigned};
        if (t == ">>") {
            const std::uint64_t shift = b.bits < 64 ? b.bits : 63;
            return {a.is_unsigned ? a.bits >> shift : static_cast<std::uint64_t>(static_cast<std::int64_t>(a.bits) >> shift),
                    a.is_unsigned};
        }
        if (t == "<") return truth(less(a, b));
        if (t == ">") return truth(less(b, a));
        if (t == "<=") return truth(!less(b, a));
        if (t == ">=") return truth(!less(a, b));
        if (t == "==") return truth(a.bits == b.bits);
        if (t == "!=") return truth(a.bits != b.bits);
        if (t == "&") return {a.bits & b.bits, u};
        if (t == "^") return {a.bits ^ b.bits, u};
        if (t == "|") return {a.bits | b.bits, u};
        if (t == "&&") return truth(a.bits != 0 && b.bits != 0);
        return truth(a.bits != 0 || b.bits != 0);
    }

    Value divide(const Token& op, Value a, Value b, bool u) const {
        if (b.bits == 0) {
            if (muted_ > 0) {
                return {0, u};
            }
            throw ConditionError{op.position, "division by zero in preprocessor expression"};
        }
        const bool negate_a = !u && a.negative();
        const bool negate_b = !u && b.negative();
        const std::uint64_t x = negate_a ? ~a.bits + 1 : a.bits;
        const std::uint64_t y = negate_b ? ~b.bits + 1 : b.bits;
        const std::uint64_t magnitude = op.text == "/" ? x / y : x % y;
        const bool negate = op.text == "/" ? negate_a != negate_b : negate_a;
        return {negate ? ~magnitude + 1 : magnitude, u};
    }

    const std::vector<Token>& tokens_;
    Position directive_;
    std::size_t next_ = 0;
    int muted_ = 0;
    int depth_ = 0;
};

}  // namespace

bool evaluate_condition(const std::vector<Token>& tokens, Position directive, Diagnostics& diagnostics) {
    try {
        return Condition(tokens, directive).run() != 0;
    } catch (const ConditionError& error) {
        diagnostics.error(error.position, error.message);
        return false;
    }
}

std::optional<std::int64_t> evaluate_integer(const std::vector<Token>& tokens) {
    try {
        return static_cast<std::int64_t>(Condition(tokens, {}).run());
    } catch (const ConditionError&) {
        return std::nullopt;
    }
}

}  // namespace kfp::msl
