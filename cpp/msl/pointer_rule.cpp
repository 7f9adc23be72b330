#include "msl/pointer_rule.hpp"

#include <algorithm>
#include <array>

#include "msl/types.hpp"

namespace kfp::msl {
namespace {

bool is_cv(const Token& token) { return token.is("const") || token.is("volatile") || token.is("coherent") || token.is("__restrict") || token.is("restrict"); }

bool precedes_type(const Token& token) {
    static constexpr std::array words{"const", "volatile", "static", "inline", "constexpr", "extern", "struct", "class", "union", "enum",
                                      "typename", "unsigned", "signed", "long", "short", "int", "char", "mutable", "friend", "coherent",
                                      "METAL_FUNC", "register", "typedef"};
    return is_address_space(token) || std::find(words.begin(), words.end(), token.text) != words.end();
}

class Checker {
public:
    Checker(const Program& program, Diagnostics& diagnostics) : program_(program), diagnostics_(diagnostics) {}

    void run() {
        find_values_and_aliases();
        for (Index i = 0; i + 2 < static_cast<Index>(program_.stream.tokens.size()); ++i) {
            if (program_.group_at(i) != nullptr) {
                i = program_.match[i];
                continue;
            }
            if (const Index past = type_at(i); past != none) {
                check_declarator(i, past);
                i = past - 1;
            }
        }
    }

private:
    bool is(Index i, std::string_view text) const { return program_.is(i, text); }
    const Token& token(Index i) const { return program_.token(i); }
    Index end() const { return static_cast<Index>(program_.stream.tokens.size()) - 1; }

    // Names of types that are also names of values somewhere (then `name * x` may be a product), and aliases that already
    // say an address space.
    void find_values_and_aliases() {
        std::vector<bool> in_typedef(program_.stream.tokens.size());
        for (const Declaration& declaration : program_.declarations) {
            const Range tokens = declaration.tokens;
            if (is(tokens.begin, "typedef")) {
                std::fill(in_typedef.begin() + tokens.begin, in_typedef.begin() + tokens.end, true);
            }
            if ((is(tokens.begin, "using") || is(tokens.begin, "typedef"))) {
                for (Index i = tokens.begin; i < tokens.end; ++i) {
                    if (is_address_space(token(i))) {
                        spaced_.insert(is(tokens.begin, "using") ? token(tokens.begin + 1).text : token(tokens.end - 1).text);
                    }
                }
            }
        }
        for (Index i = 1; i < end(); ++i) {
            const Token& before = token(i - 1);
            const bool follows_type = (before.is_identifier() && !before.is("return") && !precedes_type(before) && !before.is("else") &&
                                       !before.is("using") && !before.is("namespace") && !before.is("new") && !before.is("case")) ||
                                      before.is("*") || before.is("&");
            const bool ends = is(i + 1, "=") || is(i + 1, ";") || is(i + 1, ",") || is(i + 1, ")") || is(i + 1, "[");
            if (token(i).is_identifier() && follows_type && ends && !in_typedef[i]) {
                values_.insert(token(i).text);
            }
        }
    }

    // Past the name of a type that begins here; `none` where there is none that is known to be one.
    Index type_at(Index i) const {
        const Token& t = token(i);
        if (!t.is_identifier() || program_.template_parameters.count(t.text) != 0 || values_.count(t.text) != 0) {
            return none;
        }
        if (i > 0 && (is(i - 1, ".") || is(i - 1, "->"))) {
            return none;
        }
        const bool known = program_.type_names.count(t.text) != 0;
        if (is(i + 1, "<") && (known || is_metal_type_template(t.text))) {
            const Index past = skip_angles(program_, i + 1, end());
            return past < end() && !is(past, "::") && !depends_on_parameter({i + 1, past}) ? past : none;
        }
        return (known || is_metal_type(t.text)) && !is(i + 1, "::") ? i + 1 : none;
    }

    // vec<T, 4>* is checked when it is instantiated, with a type that may bring an address space.
    bool depends_on_parameter(Range range) const {
        for (Index i = range.begin; i < range.end; ++i) {
            if (program_.template_parameters.count(token(i).text) != 0) {
                return true;
            }
        }
        return false;
    }

    // The '(' of `T (*name)[4]` or `T (&name)[4]`, not of a call.
    bool opens_pointer_to_array(Index i) const {
        const Index close = is(i, "(") ? program_.match[i] : none;
        return close != none && (is(i + 1, "*") || is(i + 1, "&")) && close <= i + 3 && is(close + 1, "[");
    }

    void check_declarator(Index type, Index past) {
        bool has_space = spaced_.count(token(type).text) != 0;
        for (Index i = type; i > 0;) {
            --i;
            if (is(i, "::") && i > 0 && token(i - 1).is_identifier()) {
                --i;
            } else if (is(i, "]") || is(i, "::")) {
                if (is(i, "]")) {
                    break;
                }
            } else if (!precedes_type(token(i))) {
                break;
            } else {
                has_space = has_space || is_address_space(token(i));
            }
        }
        Index i = past;
        for (; i < end(); ++i) {
            if (is_address_space(token(i))) {
                has_space = true;
            } else if (is(i, "*") || is(i, "&") || is(i, "&&")) {
                if (!has_space) {
                    diagnostics_.error(program_.stream, token(i), std::string(is(i, "*") ? "pointer" : "reference") +
                                                                      " type must have explicit address space qualifier");
                    return;
                }
                has_space = false;
            } else if (!opens_pointer_to_array(i) && !is_cv(token(i)) && !is(i, "unsigned") && !is(i, "int") &&
                       !is(i, "long") && !is(i, "char") && !is(i, "short")) {
                break;
            }
        }
    }

    const Program& program_;
    Diagnostics& diagnostics_;
    std::set<std::string, std::less<>> values_;
    std::set<std::string, std::less<>> spaced_;
};

}  // namespace

void check_pointers(const Program& program, Diagnostics& diagnostics) { Checker(program, diagnostics).run(); }

}  // namespace kfp::msl
