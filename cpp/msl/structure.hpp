// The shape of a program, read off its tokens: scopes, declarations, functions, statements. No types are resolved.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "msl/tokens.hpp"

namespace kfp::msl {

using Index = std::uint32_t;
inline constexpr Index none = ~Index{0};

// A half-open range of token indices.
struct Range {
    Index begin = 0;
    Index end = 0;
    bool empty() const { return begin >= end; }
};

struct Attribute {
    std::string name;  // with its namespace, if any
    Index at = 0;
    Range arguments;  // between its parentheses
    bool has_arguments = false;
};

// One [[...]] group.
struct AttributeGroup {
    Range range;  // brackets included
    std::vector<Attribute> attributes;
};

enum class ScopeKind : std::uint8_t { program, name_space, record };

struct Scope {
    ScopeKind kind = ScopeKind::program;
    std::string name;
    Index parent = none;  // index into Program::scopes
};

struct Function {
    Index scope = 0;
    Range head;             // from its first token (template header excluded) to the body or the ';'
    Index name = none;      // token index; none for operators and conversions
    Range parameters;       // between the parentheses
    Range body;             // between the braces; empty for a declaration
    bool defined = false;
    bool is_template = false;
    bool is_kernel = false;
    bool is_explicit_instantiation = false;
};

// Anything else that is declared: variables, types, aliases, at program, namespace or record scope or in a function.
struct Declaration {
    Index scope = 0;
    Index function = none;  // index into Program::functions, for a local one
    Range tokens;           // template header excluded, ';' excluded
    bool is_template = false;
};

struct Program {
    explicit Program(const TokenStream& tokens) : stream(tokens) {}

    const TokenStream& stream;
    // False: brackets don't pair or nest too deeply; nothing else is known then, and the compiler says why, except where
    // it skips what it takes for the arguments of an unknown attribute.
    bool balanced = true;
    Index unpaired = none;  // the bracket at which that shows
    std::vector<Index> match;  // of every bracket its partner, else `none`
    std::vector<Scope> scopes;
    std::vector<Function> functions;
    std::vector<Declaration> declarations;
    std::vector<AttributeGroup> attributes;
    std::vector<Index> labels;
    std::set<std::string, std::less<>> type_names;        // records, enums, aliases
    std::map<std::string, Range, std::less<>> aliases;    // of typedef and using, the whole declaration
    std::set<std::string, std::less<>> template_parameters;

    const Token& token(Index i) const { return stream.tokens[i]; }
    bool is(Index i, std::string_view text) const { return stream.tokens[i].is(text); }
    // The attribute group that begins at this token, or null.
    const AttributeGroup* group_at(Index i) const;
    std::string text(Range range) const;
};

Program read_structure(const TokenStream& stream);

bool is_address_space(const Token& token);
// Past the '>' of the '<' at `i`; `end` if there is none before it.
Index skip_angles(const Program& program, Index i, Index end);

}  // namespace kfp::msl
