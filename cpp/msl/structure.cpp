#include "msl/structure.hpp"

#include <algorithm>

namespace kfp::msl {

bool is_address_space(const Token& token) {
    return token.is("device") || token.is("constant") || token.is("thread") || token.is("threadgroup") ||
           token.is("threadgroup_imageblock") || token.is("ray_data") || token.is("object_data");
}

const AttributeGroup* Program::group_at(Index i) const {
    const auto at = std::lower_bound(attributes.begin(), attributes.end(), i,
                                     [](const AttributeGroup& group, Index index) { return group.range.begin < index; });
    return at != attributes.end() && at->range.begin == i ? &*at : nullptr;
}

std::string Program::text(Range range) const {
    std::string result;
    for (Index i = range.begin; i < range.end; ++i) {
        const Token& next = token(i);
        const bool glued = result.empty() || next.is("*") || next.is("&") || next.is("::") || next.is("<") || next.is(">") ||
                           next.is(",") || (i > range.begin && (token(i - 1).is("::") || token(i - 1).is("<")));
        result += (glued ? "" : " ") + next.text;
    }
    return result;
}

// In tokens: keeps the search linear where a '<' is no bracket at all.
constexpr Index max_template_arguments = 1000;

Index skip_angles(const Program& program, Index i, Index end) {
    int depth = 0;
    const Index last = std::min<Index>(end, i + max_template_arguments);
    for (; i < last; ++i) {
        const Token& token = program.token(i);
        if (token.is("<")) {
            ++depth;
        } else if (token.is(">")) {
            --depth;
        } else if (token.is(">>")) {
            depth -= 2;
        } else if (program.match[i] != none && program.match[i] > i) {
            i = program.match[i];
        } else if (token.is(";")) {
            return end;
        }
        if (depth <= 0) {
            return i + 1;
        }
    }
    return end;
}

namespace {

constexpr std::size_t max_bracket_depth = 256;  // clang's own

class Reader {
public:
    explicit Reader(const TokenStream& stream) : program_(stream) {}

    Program run() {
        match_brackets();
        if (program_.balanced) {
            read_attributes();
            program_.scopes.emplace_back();
            read_declarations({0, size() - 1}, 0);
        }
        return std::move(program_);
    }

private:
    Index size() const { return static_cast<Index>(program_.stream.tokens.size()); }
    bool is(Index i, std::string_view text) const { return program_.is(i, text); }
    const Token& token(Index i) const { return program_.token(i); }

    void match_brackets() {
        program_.match.assign(size(), none);
        std::vector<Index> open;
        for (Index i = 0; i < size(); ++i) {
            if (token(i).kind != TokenKind::punctuator || token(i).text.size() != 1) {
                continue;
            }
            const char c = token(i).text[0];
            if (c == '(' || c == '[' || c == '{') {
                open.push_back(i);
                if (open.size() > max_bracket_depth) {
                    set_unbalanced(i);
                    return;
                }
            } else if (c == ')' || c == ']' || c == '}') {
                const char partner = c == ')' ? '(' : c == ']' ? '[' : '{';
                if (open.empty() || token(open.back()).text[0] != partner) {
                    set_unbalanced(i);
                    return;
                }
                program_.match[i] = open.back();
                program_.match[open.back()] = i;
                open.pop_back();
            }
        }
        if (!open.empty()) {
            set_unbalanced(open.back());
        }
    }

    void set_unbalanced(Index bracket) {
        program_.balanced = false;
        program_.unpaired = bracket;
    }

    void read_attributes() {
        for (Index i = 0; i + 1 < size(); ++i) {
            if (!is(i, "[") || !is(i + 1, "[") || program_.match[i] != program_.match[i + 1] + 1) {
                continue;
            }
            AttributeGroup group{{i, program_.match[i] + 1}, {}};
            for (Index j = i + 2; j + 2 < group.range.end; ++j) {
                if (is(j, ",")) {
                    continue;
                }
                Attribute attribute{token(j).text, j, {}, false};
                while (is(j + 1, "::")) {
                    attribute.name += "::" + token(j + 2).text;
                    j += 2;
                }
                if (is(j + 1, "(")) {
                    attribute.has_arguments = true;
                    attribute.arguments = {j + 2, program_.match[j + 1]};
                    j = program_.match[j + 1];
                }
                group.attributes.push_back(std::move(attribute));
            }
            i = group.range.end - 1;
            program_.attributes.push_back(std::move(group));
        }
    }

    // ---- declarations

    void read_declarations(Range range, Index scope) {
        for (Index i = range.begin; i < range.end;) {
            i = is(i, ";") || token(i).kind == TokenKind::pragma ? i + 1 : read_declaration({i, range.end}, scope);
        }
    }

    Index skip_template_header(Index i, Index end) {
        while (i + 1 < end && is(i, "template") && is(i + 1, "<")) {
            const Index past = skip_angles(program_, i + 1, end);
            for (Index j = i + 2; j + 1 < past; ++j) {
                // The name is what stands before ',' '=' or the final '>'.
                const bool ends = is(j + 1, ",") || is(j + 1, "=") || j + 2 == past;
                if (token(j).is_identifier() && ends && (token(j - 1).is_identifier() || is(j - 1, "...")) ) {
                    program_.template_parameters.insert(token(j).text);
                }
            }
            i = past;
        }
        return i;
    }

    // One declaration from its first token; returns the index past it.
    Index read_declaration(Range range, Index scope) {
        Index i = range.begin;
        if ((is(i, "public") || is(i, "private") || is(i, "protected")) && i + 1 < range.end && is(i + 1, ":")) {
            return i + 2;
        }
        i = skip_template_header(i, range.end);
        const bool is_template = i != range.begin;
        if (i >= range.end) {
            return range.end;
        }
        const bool instantiation = is(i, "template");
        const Range head{instantiation ? i + 1 : i, range.end};
        Index type_body = none;      // the '{' of a record or enum
        Index parameters = none;     // the '(' of a function's parameters
        bool has_initializer = false;
        Index keyword = none;
        Index j = head.begin;
        for (; j < head.end; ++j) {
            const Token& t = token(j);
            if (t.is(";")) {
                break;
            }
            if (program_.group_at(j) != nullptr) {
                j = program_.match[j];
            } else if (t.is("namespace") || t.is("struct") || t.is("class") || t.is("union") || t.is("enum")) {
                keyword = keyword == none ? j : keyword;
            } else if (t.is("operator")) {
                j = read_operator(j, head.end);
                parameters = j;
                j = j < head.end ? program_.match[j] : j;
            } else if (t.is("=")) {
                has_initializer = true;
            } else if (t.is("<") && j > head.begin && token(j - 1).is_identifier() && !has_initializer) {
                const Index past = skip_angles(program_, j, head.end);
                j = past < head.end ? past - 1 : j;
            } else if (t.is("alignas") || t.is("__attribute__") || t.is("decltype")) {
                j = j + 1 < head.end && is(j + 1, "(") ? program_.match[j + 1] : j;
            } else if (t.is("(")) {
                if (!has_initializer && parameters == none && type_body == none) {
                    parameters = j;
                }
                j = program_.match[j];
            } else if (t.is("[")) {
                j = program_.match[j];
            } else if (t.is("{")) {
                if (!has_initializer && parameters != none && ends_function_head(parameters, j)) {
                    return add_function(head, parameters, j, scope, is_template, false);
                }
                if (keyword != none && type_body == none && !has_initializer && parameters == none) {
                    if (is(keyword, "namespace")) {
                        return read_namespace(keyword, j, scope);
                    }
                    type_body = j;
                    read_type(keyword, j, scope);
                } else if (is_linkage(head.begin, j)) {
                    read_declarations({j + 1, program_.match[j]}, scope);
                    return program_.match[j] + 1;
                }
                j = program_.match[j];
            }
        }
        const Range whole{head.begin, j};
        if (parameters != none && !is(head.begin, "typedef") && !is(head.begin, "using") && !is(head.begin, "static_assert")) {
            add_function(whole, parameters, none, scope, is_template, instantiation);
        }
        add_declaration(whole, scope, none, is_template || instantiation);
        return j < head.end ? j + 1 : j;
    }

    bool is_linkage(Index begin, Index brace) const {
        return brace == begin + 2 && is(begin, "extern") && token(begin + 1).kind == TokenKind::string;
    }

    // From `operator` to the '(' of its parameters.
    Index read_operator(Index i, Index end) const {
        ++i;
        if (i + 1 < end && is(i, "(") && is(i + 1, ")")) {
            i += 2;
        }
        while (i < end && !is(i, "(")) {
            ++i;
        }
        return i;
    }

    // Is this '{' the body of the function whose parameters open there? Members may be braced in a constructor's list.
    bool ends_function_head(Index parameters, Index brace) const {
        bool in_initializers = false;
        for (Index i = program_.match[parameters] + 1; i < brace; ++i) {
            in_initializers = in_initializers || is(i, ":");
            if (program_.match[i] != none && program_.match[i] > i) {
                i = program_.match[i];
            }
        }
        return !in_initializers || is(brace - 1, ")") || is(brace - 1, "}");
    }

    Index read_namespace(Index keyword, Index brace, Index scope) {
        Index inner = scope;
        for (Index i = keyword + 1; i < brace; ++i) {
            if (token(i).is_identifier()) {
                program_.scopes.push_back({ScopeKind::name_space, token(i).text, inner});
                inner = static_cast<Index>(program_.scopes.size() - 1);
            }
        }
        if (inner == scope) {
            program_.scopes.push_back({ScopeKind::name_space, "", scope});
            inner = static_cast<Index>(program_.scopes.size() - 1);
        }
        read_declarations({brace + 1, program_.match[brace]}, inner);
        return program_.match[brace] + 1;
    }

    void read_type(Index keyword, Index brace, Index scope) {
        std::string name;
        for (Index i = keyword + 1; i < brace && !is(i, ":"); ++i) {
            if (program_.group_at(i) != nullptr || is(i, "(")) {
                i = program_.match[i];
            } else if (is(i, "<")) {
                break;
            } else if (token(i).is_identifier() && !is(i, "class") && !is(i, "struct") && !is(i, "alignas") && !is(i, "__attribute__")) {
                name = token(i).text;
            }
        }
        if (!name.empty()) {
            program_.type_names.insert(name);
        }
        if (!is(keyword, "enum")) {
            program_.scopes.push_back({ScopeKind::record, name, scope});
            read_declarations({brace + 1, program_.match[brace]}, static_cast<Index>(program_.scopes.size() - 1));
        }
    }

    Index add_function(Range head, Index parameters, Index brace, Index scope, bool is_template, bool instantiation) {
        Function function;
        function.scope = scope;
        function.head = {head.begin, brace == none ? head.end : brace};
        function.parameters = {parameters + 1, program_.match[parameters]};
        function.defined = brace != none;
        function.is_template = is_template;
        function.is_explicit_instantiation = instantiation;
        function.is_kernel = names_kernel(head.begin, parameters);
        Index name = parameters;
        if (name > head.begin && is(name - 1, ">")) {
            // f<int>(…): step back over the template arguments.
            int depth = 0;
            do {
                --name;
                depth += is(name, ">") ? 1 : is(name, ">>") ? 2 : is(name, "<") ? -1 : 0;
            } while (name > head.begin && depth > 0);
        }
        while (name > head.begin && is(name - 1, "]")) {
            name = program_.match[name - 1];  // attributes of the declared entity
        }
        if (name > head.begin && token(name - 1).is_identifier() && !is(name - 1, "operator")) {
            function.name = name - 1;
        }
        const Index number = static_cast<Index>(program_.functions.size());
        if (brace != none) {
            function.body = {brace + 1, program_.match[brace]};
        }
        program_.functions.push_back(function);
        if (brace == none) {
            return head.end;
        }
        read_block(function.body, scope, number);
        return program_.match[brace] + 1;
    }

    bool names_kernel(Index begin, Index parameters) const {
        for (Index i = begin; i < parameters; ++i) {
            if (const AttributeGroup* group = program_.group_at(i)) {
                if (std::any_of(group->attributes.begin(), group->attributes.end(),
                                [](const Attribute& a) { return a.name == "kernel"; })) {
                    return true;
                }
                i = group->range.end - 1;
            } else if (is(i, "kernel")) {
                return true;
            }
        }
        return false;
    }

    void add_declaration(Range tokens, Index scope, Index function, bool is_template) {
        if (tokens.empty()) {
            return;
        }
        if (is(tokens.begin, "typedef")) {
            note_alias(tokens);
        } else if (is(tokens.begin, "using") && tokens.begin + 2 < tokens.end && is(tokens.begin + 2, "=")) {
            program_.type_names.insert(token(tokens.begin + 1).text);
            program_.aliases.insert_or_assign(token(tokens.begin + 1).text, tokens);
        } else if (tokens.end == tokens.begin + 2 && (is(tokens.begin, "struct") || is(tokens.begin, "class"))) {
            program_.type_names.insert(token(tokens.begin + 1).text);
        }
        program_.declarations.push_back({scope, function, tokens, is_template});
    }

    void note_alias(Range tokens) {
        Index name = none;
        for (Index i = tokens.begin + 1; i < tokens.end; ++i) {
            if (program_.match[i] != none && program_.match[i] > i) {
                i = program_.match[i];
            } else if (token(i).is_identifier()) {
                name = i;
            }
        }
        if (name != none) {
            program_.type_names.insert(token(name).text);
            program_.aliases.insert_or_assign(token(name).text, tokens);
        }
    }

    // ---- statements

    void read_block(Range range, Index scope, Index function) {
        for (Index i = range.begin; i < range.end;) {
            i = read_statement({i, range.end}, scope, function);
        }
    }

    Index read_statement(Range range, Index scope, Index function) {
        Index i = range.begin;
        if (is(i, ";") || token(i).kind == TokenKind::pragma || is(i, "else") || is(i, "do") || is(i, "try")) {
            return i + 1;
        }
        if (is(i, "{")) {
            read_block({i + 1, program_.match[i]}, scope, function);
            return program_.match[i] + 1;
        }
        if (is(i, "case") || is(i, "default")) {
            while (i < range.end && !is(i, ":")) {
                ++i;
            }
            return i + 1;
        }
        if (token(i).is_identifier() && i + 1 < range.end && is(i + 1, ":")) {
            program_.labels.push_back(i);
            return i + 2;
        }
        if (is(i, "if") && i + 1 < range.end && is(i + 1, "constexpr")) {
            ++i;
        }
        if ((is(i, "for") || is(i, "if") || is(i, "constexpr") || is(i, "while") || is(i, "switch")) && i + 1 < range.end && is(i + 1, "(")) {
            const Index close = program_.match[i + 1];
            if (is(i, "for")) {
                read_statement({i + 2, close}, scope, function);
            }
            return close + 1;
        }
        return read_simple_statement(range, scope, function);
    }

    Index read_simple_statement(Range range, Index scope, Index function) {
        Index keyword = none;
        bool plain = true;  // no parenthesis or initializer yet
        Index j = range.begin;
        for (; j < range.end && !is(j, ";"); ++j) {
            const Token& t = token(j);
            if (t.is("struct") || t.is("class") || t.is("union") || t.is("enum")) {
                keyword = keyword == none ? j : keyword;
            } else if (t.is("{")) {
                if (keyword != none && plain) {
                    read_type(keyword, j, scope);
                    plain = false;
                }
                j = program_.match[j];
            } else if (t.is("(") || t.is("[")) {
                plain = plain && program_.group_at(j) != nullptr;
                j = program_.match[j];
            } else if (t.is("=")) {
                plain = false;
            }
        }
        add_declaration({range.begin, j}, scope, function, false);
        return j < range.end ? j + 1 : j;
    }

    Program program_;
};

}  // namespace

Program read_structure(const TokenStream& stream) { return Reader(stream).run(); }

}  // namespace kfp::msl
