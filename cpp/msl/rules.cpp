#include "msl/rules.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "msl/inputs.hpp"
#include "msl/pointer_rule.hpp"
#include "msl/signature_rule.hpp"

namespace kfp::msl {
namespace {

// Attributes of kernel functions: they belong to the function, never to a type or a statement.
bool is_function_attribute(std::string_view name) { return name == "max_total_threads_per_threadgroup" || name == "host_name" || name == "kernel"; }

bool ends_expression(const Token& token) {
    static const std::set<std::string_view> keywords{"return", "case", "else", "do", "throw", "co_return", "goto", "and", "or", "not"};
    if (token.kind == TokenKind::punctuator) {
        return token.text == ")" || token.text == "]" || token.text == ">" || token.text == ">>";
    }
    return token.kind != TokenKind::pragma && keywords.count(token.text) == 0;
}

class Checker {
public:
    Checker(const Program& program, const Kernels& kernels, Diagnostics& diagnostics)
        : program_(program), kernels_(kernels), diagnostics_(diagnostics) {
        for (const Function& function : program.functions) {
            function_heads_.insert(function.head.begin);
        }
    }

    void run() {
        check_words();
        for (const Index label : program_.labels) {
            error(label, "labeled statements are not supported in Metal");
        }
        for (const Function& function : program_.functions) {
            check_function_attributes(function);
        }
        for (const Declaration& declaration : program_.declarations) {
            check_stray_attributes(declaration);
            check_storage(declaration);
        }
        check_signatures(program_, kernels_, diagnostics_);
        check_pointers(program_, diagnostics_);
    }

private:
    bool is(Index i, std::string_view text) const { return program_.is(i, text); }
    const Token& token(Index i) const { return program_.token(i); }
    Index size() const { return static_cast<Index>(program_.stream.tokens.size()); }
    void error(Index i, std::string message) { diagnostics_.error(program_.stream, token(i), std::move(message)); }

    // ---- words and punctuation

    void check_words() {
        bool missed_include = false;
        for (Index i = 0; i + 1 < size(); ++i) {
            const Token& t = token(i);
            if (t.is("[") && is_lambda(i)) {
                error(i, "lambda expressions are not supported in Metal");
            }
            if (!t.is_identifier()) {
                continue;
            }
            if (t.text == "template" && is(i + 1, "<")) {
                check_template_parameters(i + 1);
            }
            if (t.text == "double" || t.text == "goto") {
                error(i, "'" + t.text + "' is not supported in Metal");
            } else if (t.text == "long" && is(i + 1, "long")) {
                error(i, "'long long' is not supported in Metal");
            } else if (t.text == "metal" && !program_.stream.includes_metal && !missed_include) {
                missed_include = true;
                error(i, i > 0 && is(i - 1, "namespace") ? "expected namespace name" : "use of undeclared identifier 'metal'");
            } else if (t.text == "vertex" || t.text == "fragment") {
                error(i, "'" + t.text + "' functions are not supported on this device");
            } else if (is_graphics_type(i)) {
                error(i, "'" + t.text + "' is not supported on this device: textures and ray tracing need a GPU");
            }
        }
    }

    // Metal is C++14 with a few later features, of which this is none.
    void check_template_parameters(Index open) {
        const Index past = skip_angles(program_, open, size() - 1);
        for (Index i = open; i < past && past < size() - 1; ++i) {
            if (is(i, "auto") && !is(i - 1, "(")) {
                error(i, "'auto' not allowed in template parameter until C++17");
            }
        }
    }

    bool is_graphics_type(Index i) const {
        static const std::set<std::string_view> templates{"texture1d", "texture1d_array", "texture2d", "texture2d_array", "texture2d_ms",
                                                          "texture2d_ms_array", "texture3d", "texturecube", "texturecube_array",
                                                          "texture_buffer", "depth2d", "depth2d_array", "depthcube", "imageblock",
                                                          "visible_function_table", "intersector", "intersection_function_table"};
        return (is(i + 1, "<") && templates.count(token(i).text) != 0 && program_.type_names.count(token(i).text) == 0) ||
               (token(i).text == "raytracing" && i > 0 && (is(i - 1, "::") || is(i - 1, "namespace")));
    }

    bool is_lambda(Index i) const {
        if (program_.group_at(i) != nullptr || (i > 0 && (program_.group_at(i - 1) != nullptr || ends_expression(token(i - 1))))) {
            return false;
        }
        if (i > 0 && (is(i - 1, "operator") || is(i - 1, "delete"))) {
            return false;
        }
        const Index past = program_.match[i] + 1;
        return past < size() && (is(past, "(") || is(past, "{"));
    }

    // ---- attribute placement

    void check_function_attributes(const Function& function) {
        bool after_specifier = false;
        for (Index i = function.head.begin; i < function.head.end; ++i) {
            const AttributeGroup* group = program_.group_at(i);
            if (i == function.parameters.begin && i > 0) {
                i = function.parameters.end;
                after_specifier = true;
                continue;
            }
            if (group == nullptr) {
                after_specifier = true;
                if (program_.match[i] != none && program_.match[i] > i && i + 1 != function.parameters.begin) {
                    i = program_.match[i];
                }
                continue;
            }
            const bool before_all = !after_specifier;
            const bool names_entity = function.name != none && i > 0 && (i - 1 == function.name || is(i - 1, "]")) && i > function.name &&
                                      i < function.parameters.begin;
            for (const Attribute& attribute : group->attributes) {
                if (!is_function_attribute(attribute.name) || names_entity) {
                    continue;
                }
                if (before_all) {
                    if (is(group->range.end, "template")) {
                        error(group->range.begin, "an attribute list cannot appear here");
                    }
                    continue;
                }
                const bool last_specifier = group->range.end == function.name;
                if (i > function.parameters.end || last_specifier) {
                    error(attribute.at, "'" + attribute.name + "' attribute cannot be applied to types");
                } else {
                    error(group->range.begin, "an attribute list cannot appear here");
                }
            }
            i = group->range.end - 1;
        }
    }

    // An attribute of a function on something that is none.
    void check_stray_attributes(const Declaration& declaration) {
        const bool in_function = declaration.function != none;
        if (!in_function && is_function(declaration)) {
            return;
        }
        for (Index i = declaration.tokens.begin; i < declaration.tokens.end; ++i) {
            const AttributeGroup* group = program_.group_at(i);
            if (group == nullptr) {
                continue;
            }
            for (const Attribute& attribute : group->attributes) {
                const bool instantiation = declaration.tokens.begin > 0 && is(declaration.tokens.begin - 1, "template");
                if (is_function_attribute(attribute.name) && !instantiation) {
                    error(attribute.at, "'" + attribute.name + "' attribute " +
                                            (in_function ? "cannot be applied to a statement" : "only applies to functions"));
                }
            }
            i = group->range.end - 1;
        }
    }

    bool is_function(const Declaration& declaration) const { return function_heads_.count(declaration.tokens.begin) != 0; }

    // ---- storage

    bool declares_no_variable(const Declaration& declaration) const {
        static constexpr std::array words{"typedef", "using", "namespace", "static_assert", "friend", "return", "goto", "break",
                                          "continue", "case", "delete", "throw", "template", "enum"};
        const Token& first = token(declaration.tokens.begin);
        return std::find(words.begin(), words.end(), first.text) != words.end();
    }

    void check_storage(const Declaration& declaration) {
        if (declares_no_variable(declaration) || (declaration.function == none && is_function(declaration))) {
            return;
        }
        if (declaration.function == none && declaration.tokens.begin > 0 && is(declaration.tokens.begin - 1, "template")) {
            return;
        }
        const Declarators parts = split_declaration(program_, declaration.tokens);
        const auto has = [&](std::string_view word) {
            for (Index i = parts.specifiers.begin; i < parts.specifiers.end; ++i) {
                if (program_.match[i] != none && program_.match[i] > i) {
                    i = program_.match[i];
                } else if (is(i, word)) {
                    return true;
                }
            }
            return false;
        };
        const bool is_static = has("static");
        const ScopeKind kind = program_.scopes[declaration.scope].kind;
        for (const Range declarator : parts.list) {
            const Index name = declared_name(program_, declarator);
            if (name == none) {
                continue;
            }
            const bool in_constant = variable_space(parts.specifiers, {declarator.begin, name}) == "constant";
            if (declaration.function == none && (kind != ScopeKind::record || is_static)) {
                if (!in_constant) {
                    error(name, "program scope variable must reside in constant address space");
                }
            } else if (declaration.function != none && is_static && !in_constant) {
                error(name, "static local variable must reside in constant address space");
            } else if (declaration.function != none && name == declarator.begin && has("threadgroup")) {
                check_threadgroup_variable(declaration, declarator, name);
            }
        }
    }

    // Where the variable itself lives: after the last '*' of its declarator, or else in the specifiers.
    std::string variable_space(Range specifiers, Range before_name) const {
        std::string space;
        for (const Range range : {specifiers, before_name}) {
            for (Index i = range.begin; i < range.end; ++i) {
                if (is(i, "*") || is(i, "&")) {
                    space.clear();
                } else if (is_address_space(token(i))) {
                    space = token(i).text;
                }
            }
        }
        return space;
    }

    void check_threadgroup_variable(const Declaration& declaration, Range declarator, Index name) {
        if (!program_.functions[declaration.function].is_kernel) {
            error(name, "variables in the threadgroup address space can only be declared in a kernel function");
            return;
        }
        for (Index i = name + 1; i < declarator.end; ++i) {
            if (is(i, "__attribute__") && is(i + 1, "(")) {
                i = program_.match[i + 1];
            } else if (is(i, "=") || is(i, "{") || is(i, "(")) {
                error(name, "variable in threadgroup address space cannot have an initializer");
                return;
            }
            if (is(i, "[")) {
                i = program_.match[i];
            }
        }
    }

    const Program& program_;
    const Kernels& kernels_;
    Diagnostics& diagnostics_;
    std::set<Index> function_heads_;
};

}  // namespace

void check_rules(const Program& program, const Kernels& kernels, Diagnostics& diagnostics) { Checker(program, kernels, diagnostics).run(); }

}  // namespace kfp::msl
