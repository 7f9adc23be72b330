#include "msl/conditionals.hpp"

#include <algorithm>
#include <utility>

#include "msl/methods.hpp"
#include "msl/types.hpp"

namespace kfp::msl {
namespace {

// In tokens: what is longer between '?' and its end is left alone, so that chains of conditionals take linear time.
constexpr Index max_operand = 2000;

class Finder {
public:
    explicit Finder(const Program& program) : program_(program) {
        for (const Function& function : program.functions) {
            functions_[function.head.begin] = &function;
        }
    }

    Conditionals run() {
        const Index end = static_cast<Index>(program_.stream.tokens.size()) - 1;
        for (Index i = 0; i < end; ++i) {
            if (!is(i, "?") || program_.match.empty()) {
                continue;
            }
            const Index limit = std::min<Index>(end, i + max_operand);
            Index colon = i + 1;
            for (int depth = 0; colon < limit && !(is(colon, ":") && depth == 0); ++colon) {
                depth += is(colon, "?") ? 1 : is(colon, ":") ? -1 : 0;
                if (program_.match[colon] != none && program_.match[colon] > colon) {
                    colon = program_.match[colon];
                } else if (is(colon, ";") || program_.match[colon] != none) {
                    colon = limit;
                }
            }
            if (colon >= limit) {
                continue;
            }
            Index last = colon + 1;
            for (int depth = 0; last < limit; ++last) {
                depth += is(last, "?") ? 1 : is(last, ":") ? -1 : 0;
                if (program_.match[last] != none && program_.match[last] > last) {
                    last = program_.match[last];
                } else if (depth < 0 || is(last, ",") || is(last, ";") || program_.match[last] != none) {
                    break;
                }
            }
            if (last >= limit) {
                continue;
            }
            // `(c ? a : b) = x` wants the lvalue.
            if (is(last, ")") && (is(last + 1, "=") || (token(last + 1).text.size() >= 2 && token(last + 1).text.back() == '=' &&
                                                        !is(last + 1, "==") && !is(last + 1, "!=") && !is(last + 1, "<=") && !is(last + 1, ">=")))) {
                continue;
            }
            if (!gives_reference(i)) {
                take_value({i + 1, colon});
                take_value({colon + 1, last});
            }
        }
        return std::move(result_);
    }

private:
    bool is(Index i, std::string_view text) const { return program_.is(i, text); }
    const Token& token(Index i) const { return program_.token(i); }

    // Is the conditional at this '?' what a reference is made of, in `T& x = c ? a : b;` or a return?
    bool gives_reference(Index question) const {
        for (Index i = question; i > 0 && question - i < max_operand; --i) {
            const Index before = i - 1;
            if (program_.match[before] != none && program_.match[before] < before) {
                i = program_.match[before] + 1;
            } else if (is(before, "=")) {
                return before > 1 && token(before - 1).is_identifier() && is(before - 2, "&");
            } else if (is(before, "return")) {
                return returns_reference(before);
            } else if (is(before, ";") || is(before, "?") || program_.match[before] != none) {
                return false;
            }
        }
        return false;
    }

    bool returns_reference(Index statement) const {
        auto function = functions_.upper_bound(statement);
        while (function != functions_.begin()) {
            --function;
            if (function->second->body.begin <= statement && statement < function->second->body.end) {
                const Index callee = callee_begin(program_, *function->second);
                return callee != none && callee > 0 && is(callee - 1, "&");
            }
        }
        return false;
    }

    void take_value(Range operand) {
        if (operand.empty() || !(may_be_lvalue(operand) || is_construction(operand))) {
            return;
        }
        ++result_.opened_before[operand.begin];
        ++result_.closed_after[operand.end - 1];
    }

    // T(x, y), T{x}, (T){x}: the compiler holds those to be in thread memory, T(x) and what functions return not.
    bool is_construction(Range operand) const {
        Index i = operand.begin;
        if (is(i, "(") && is(program_.match[i] + 1, "{")) {
            return program_.match[program_.match[i] + 1] == operand.end - 1;
        }
        if (is(i, "typename")) {
            const Index open = program_.match[operand.end - 1];
            return open != none && open > i;
        }
        while (i + 2 < operand.end && token(i).is_identifier() && is(i + 1, "::")) {
            i += 2;
        }
        const std::string& name = token(i).text;
        const bool type = is_metal_type(name) || is_metal_type_template(name) || program_.type_names.count(name) != 0 ||
                          program_.template_parameters.count(name) != 0;
        const Index open = is(i + 1, "<") ? skip_angles(program_, i + 1, operand.end) : i + 1;
        return type && open < operand.end && (is(open, "(") || is(open, "{")) && program_.match[open] == operand.end - 1;
    }

    bool may_be_lvalue(Range operand) const {
        const Token& last = token(operand.end - 1);
        const bool name = last.is_identifier() && !last.is("true") && !last.is("false") && !last.is("nullptr") && !last.is("NULL") && !last.is("this");
        if (!name && !last.is("]") && !last.is("}") && !(last.is(")") && is(operand.begin, "(") && program_.match[operand.begin] == operand.end - 1) && !is(operand.begin, "*")) {
            return false;
        }
        for (Index i = operand.begin; i < operand.end; ++i) {
            const Token& t = token(i);
            if (program_.match[i] != none && program_.match[i] > i) {
                i = program_.match[i];
                continue;
            }
            const bool postfix = t.is(".") || t.is("->") || t.is("::") || (t.is("*") && i == operand.begin);
            if (t.kind == TokenKind::pragma || (t.kind == TokenKind::punctuator && !postfix)) {
                return false;
            }
        }
        return true;
    }

    const Program& program_;
    std::map<Index, const Function*> functions_;
    Conditionals result_;
};

}  // namespace

Conditionals find_conditionals(const Program& program) { return Finder(program).run(); }

}  // namespace kfp::msl
