#include <array>
#include <algorithm>

#include "msl/kernels.hpp"

namespace kfp::msl {
namespace {

bool is_builtin_word(const Token& token) {
    static constexpr std::array words{"unsigned", "signed", "int", "long", "short", "char", "float", "half", "bool", "void", "double"};
    return std::find(words.begin(), words.end(), token.text) != words.end();
}

bool is_qualifier(const Token& token) {
    static constexpr std::array words{"const", "volatile", "static", "inline", "constexpr", "extern", "typename", "register",
                                      "restrict", "__restrict", "typedef", "mutable", "friend", "thread_local", "coherent"};
    return is_address_space(token) || std::find(words.begin(), words.end(), token.text) != words.end();
}

}  // namespace

Declarators split_declaration(const Program& program, Range declaration) {
    Index i = declaration.begin;
    bool has_type = false;
    while (i < declaration.end) {
        const Token& token = program.token(i);
        if (program.group_at(i) != nullptr) {
            i = program.match[i] + 1;
        } else if (is_qualifier(token)) {
            ++i;
        } else if ((token.is("alignas") || token.is("__attribute__")) && i + 1 < declaration.end && program.is(i + 1, "(")) {
            i = program.match[i + 1] + 1;
        } else if (is_builtin_word(token) && (!has_type || is_builtin_word(program.token(i - 1)) || is_qualifier(program.token(i - 1)))) {
            has_type = true;
            ++i;
        } else if (has_type) {
            break;
        } else if (token.is("decltype") && i + 1 < declaration.end && program.is(i + 1, "(")) {
            has_type = true;
            i = program.match[i + 1] + 1;
        } else if (token.is("struct") || token.is("class") || token.is("union") || token.is("enum")) {
            has_type = true;
            i += i + 1 < declaration.end && (program.is(i + 1, "class") || program.is(i + 1, "struct")) ? 1U : 0U;
            while (i + 2 < declaration.end && (program.group_at(i + 1) != nullptr || program.is(i + 1, "alignas") || program.is(i + 1, "__attribute__"))) {
                i = program.match[program.group_at(i + 1) != nullptr ? i + 1 : i + 2];
            }
            for (++i; i < declaration.end && (program.token(i).is_identifier() || program.is(i, ":") || program.is(i, "::"));) {
                ++i;
                if (i < declaration.end && program.is(i, "<")) {
                    i = skip_angles(program, i, declaration.end);
                }
                if (i < declaration.end && program.token(i).is_identifier() && !program.is(i - 1, ":") && !program.is(i - 1, "::")) {
                    break;  // `struct S x`
                }
            }
            if (i < declaration.end && program.is(i, "{")) {
                i = program.match[i] + 1;
            }
        } else if (token.is_identifier() || token.is("::")) {
            has_type = true;
            for (;;) {
                ++i;
                if (i < declaration.end && program.is(i, "<")) {
                    i = skip_angles(program, i, declaration.end);
                }
                if (i < declaration.end && program.is(i, "::")) {
                    ++i;
                    if (i < declaration.end && program.is(i, "template")) {
                        ++i;
                    }
                } else if (!(program.is(i - 1, "::") && i < declaration.end)) {
                    break;
                }
            }
        } else {
            break;
        }
    }
    i = std::min(i, declaration.end);
    Declarators result{{declaration.begin, i}, {}};
    if (has_type && i < declaration.end) {
        result.list = split_at_commas(program, {i, declaration.end});
    }
    return result;
}

std::vector<Range> split_at_commas(const Program& program, Range range) {
    std::vector<Range> parts;
    Index begin = range.begin;
    for (Index i = range.begin; i < range.end; ++i) {
        if (program.match[i] != none && program.match[i] > i) {
            i = program.match[i];
        } else if (program.is(i, "<") && i > range.begin && program.token(i - 1).is_identifier()) {
            const Index past = skip_angles(program, i, range.end);
            // Only a closed one is a template argument list; else it is a comparison.
            i = past < range.end || program.is(range.end - 1, ">") ? past - 1 : i;
        } else if (program.is(i, ",")) {
            parts.push_back({begin, i});
            begin = i + 1;
        }
    }
    if (begin < range.end || !parts.empty()) {
        parts.push_back({begin, range.end});
    }
    return parts;
}

Index declared_name(const Program& program, Range declarator) {
    Index name = none;
    for (Index i = declarator.begin; i < declarator.end; ++i) {
        const Token& token = program.token(i);
        if (token.is("=") || token.is("{") || token.is("[") || token.is(":")) {
            if (program.group_at(i) != nullptr) {
                i = program.match[i];
                continue;
            }
            break;
        }
        if (token.is("(")) {
            if (name != none) {
                break;
            }
        } else if (token.is_identifier() && !is_qualifier(token)) {
            name = i;
        }
    }
    return name;
}

}  // namespace kfp::msl
