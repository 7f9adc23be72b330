#include "msl/temporaries.hpp"

#include <algorithm>

#include "msl/kernels.hpp"
#include "msl/types.hpp"

namespace kfp::msl {

unsigned Forwarding::temporaries() const {
    return static_cast<unsigned>(
        std::count_if(parameters.begin(), parameters.end(), [](const ForwardedParameter& p) { return p.takes_temporary(); }));
}

namespace {

struct Reference {
    Index space = none;
    Index ampersand = none;
    Range type;
};

class Finder {
public:
    explicit Finder(const Program& program) : program_(program) {}

    Temporaries run() {
        for (const Function& function : program_.functions) {
            if (!function.is_explicit_instantiation && !function.is_kernel) {
                look_at(function);
            }
        }
        return std::move(result_);
    }

private:
    bool is(Index i, std::string_view text) const { return program_.is(i, text); }
    const Token& token(Index i) const { return program_.token(i); }

    bool contains(Range range, std::string_view text) const {
        for (Index i = range.begin; i < range.end; ++i) {
            if (is(i, text)) {
                return true;
            }
        }
        return false;
    }

    void look_at(const Function& function) {
        Forwarding forwarding;
        forwarding.function = &function;
        bool forwardable = read_parameters(function, forwarding);
        const Index past = function.parameters.end + 1;
        Index i = past;
        while (is(i, "const") || is(i, "volatile") || is_address_space(token(i))) {
            ++i;
        }
        forwarding.qualifiers = {past, i};
        forwarding.rest = {i, function.defined ? function.body.begin - 1 : function.head.end};
        forwardable = forwardable && read_callee(function, forwarding) && read_template(function, forwarding);
        for (Index j = forwarding.rest.begin; j < forwarding.rest.end; ++j) {
            forwardable = forwardable && !is(j, "=") && !is(j, "&") && !is(j, "&&") && !is(j, ":");
        }
        if (!forwardable) {
            return;
        }
        read_method(function, forwarding);
        const bool wanted = forwarding.in_thread || (forwarding.temporaries() > 0 && forwarding.temporaries() <= 8);
        if (!wanted || !seen_.insert(identity(forwarding)).second) {
            return;
        }
        const Index last = function.defined ? function.body.end : function.head.end;
        result_.after.emplace(last, std::move(forwarding));
    }

    // False when an argument can't be passed on by name.
    bool read_parameters(const Function& function, Forwarding& forwarding) {
        const Range all = function.parameters;
        if (all.empty() || (all.end == all.begin + 1 && is(all.begin, "void"))) {
            return true;
        }
        bool forwardable = true;
        for (const Range tokens : split_at_commas(program_, all)) {
            ForwardedParameter parameter;
            parameter.tokens = tokens;
            Index end = tokens.begin;
            while (end < tokens.end && !is(end, "=")) {
                end = program_.match[end] != none && program_.match[end] > end ? program_.match[end] + 1 : end + 1;
            }
            const Range declarator{tokens.begin, end};
            parameter.name = last_name(declarator);
            forwardable = forwardable && parameter.name != none && !contains(tokens, "...");
            if (const std::optional<Reference> reference = thread_const_reference(declarator, parameter.name)) {
                if (reference->type.end == reference->type.begin + 1 && parse_vector_type(token(reference->type.begin).text)) {
                    result_.dropped.insert({reference->space, reference->ampersand});
                } else {
                    parameter.type = reference->type;
                }
            }
            forwarding.parameters.push_back(parameter);
        }
        return forwardable;
    }

    Index last_name(Range declarator) const {
        for (Index i = declarator.begin; i < declarator.end; ++i) {
            if (is(i, "(") && is(i + 1, "&") && i + 3 < declarator.end && token(i + 2).is_identifier() && is(i + 3, ")")) {
                return i + 2;  // T (&x)[4]
            }
        }
        Index end = declarator.end;
        while (end > declarator.begin && is(end - 1, "]")) {
            end = program_.match[end - 1];
        }
        const bool named = end > declarator.begin + 1 && token(end - 1).is_identifier() && !is(end - 1, "const") &&
                           !is_address_space(token(end - 1)) && !parse_vector_type(token(end - 1).text) && !is(end - 2, "::");
        return named ? end - 1 : none;
    }

    // `thread const T& x`, in any order of its words.
    std::optional<Reference> thread_const_reference(Range declarator, Index name) const {
        if (name == none || name != declarator.end - 1 || name < declarator.begin + 3 || !is(name - 1, "&")) {
            return std::nullopt;
        }
        Reference reference;
        reference.ampersand = name - 1;
        Range type{declarator.begin, name - 1};
        bool is_const = false;
        const auto qualifier = [&](Index i) {
            if (is(i, "const")) {
                is_const = true;
                return true;
            }
            if (is(i, "thread")) {
                reference.space = i;
                return true;
            }
            return false;
        };
        while (!type.empty() && qualifier(type.begin)) {
            ++type.begin;
        }
        while (!type.empty() && qualifier(type.end - 1)) {
            --type.end;
        }
        for (Index i = type.begin; i < type.end; ++i) {
            if (is(i, "const") || is(i, "volatile") || is_address_space(token(i)) || is(i, "*") || is(i, "&") || is(i, "(") || is(i, "[")) {
                return std::nullopt;
            }
        }
        if (!is_const || reference.space == none || type.empty()) {
            return std::nullopt;
        }
        reference.type = type;
        return reference;
    }

    bool read_callee(const Function& function, Forwarding& forwarding) const {
        const Index open = function.parameters.begin - 1;
        for (Index i = function.head.begin; i < open; ++i) {
            if (is(i, "operator")) {
                forwarding.callee = {i, open};
                return !(is(i + 1, "=") && i + 2 == open) && !(i > function.head.begin && is(i - 1, "::"));
            }
        }
        if (function.name == none || function.name + 1 != open) {
            return false;
        }
        forwarding.callee = {function.name, open};
        return function.name == function.head.begin || !(is(function.name - 1, "::") || is(function.name - 1, "~"));
    }

    bool read_template(const Function& function, Forwarding& forwarding) const {
        if (!function.is_template) {
            return true;
        }
        Index open = function.head.begin;
        if (open == 0 || !is(open - 1, ">")) {
            return false;
        }
        Index close = --open;
        for (int depth = 1; depth > 0;) {
            if (open == 0) {
                return false;
            }
            --open;
            depth += is(open, ">") ? 1 : is(open, ">>") ? 2 : is(open, "<") ? -1 : 0;
        }
        int depth = 0;
        Index name = none;
        bool before_default = true;
        for (Index i = open + 1; i <= close; ++i) {
            if (depth == 0 && (is(i, ",") || i == close)) {
                if (name == none) {
                    return false;
                }
                forwarding.template_arguments.push_back(token(name).text);
                name = none;
                before_default = true;
            } else if (is(i, "...")) {
                return false;
            } else if (depth == 0 && is(i, "=")) {
                before_default = false;
            } else if (before_default && depth == 0 && token(i).is_identifier() && !is(i, "typename") && !is(i, "class") &&
                       !parse_vector_type(token(i).text)) {
                name = i;
            }
            depth += is(i, "<") || is(i, "(") ? 1 : is(i, ">") || is(i, ")") ? -1 : 0;
        }
        return true;
    }

    void read_method(const Function& function, Forwarding& forwarding) const {
        const Scope& scope = program_.scopes[function.scope];
        const bool free = contains({function.head.begin, function.parameters.begin}, "static") ||
                          contains({function.head.begin, function.parameters.begin}, "friend");
        if (scope.kind != ScopeKind::record || scope.name.empty() || free) {
            return;
        }
        if (function.name != none && token(function.name).text == scope.name) {
            return;  // a constructor
        }
        forwarding.record = scope.name;
        unsigned spaces = 0;
        for (Index i = forwarding.qualifiers.begin; i < forwarding.qualifiers.end; ++i) {
            spaces += is_address_space(token(i)) ? 1U : 0U;
        }
        const bool of_constants = contains(forwarding.qualifiers, "const");
        forwarding.space_implied = spaces == 0;
        forwarding.keeps_others_out = spaces == 0 && of_constants && !has_overload_elsewhere(function, forwarding);
        forwarding.in_thread = of_constants && (spaces == 0 || (spaces == 1 && contains(forwarding.qualifiers, "thread")));
    }

    // Has the record a method of the same name that says its address space?
    bool has_overload_elsewhere(const Function& function, const Forwarding& forwarding) const {
        const std::string name = program_.text(forwarding.callee);
        return std::any_of(program_.functions.begin(), program_.functions.end(), [&](const Function& other) {
            if (other.scope != function.scope || other.head.begin == function.head.begin ||
                callee_text(other) != name) {
                return false;
            }
            for (Index i = other.parameters.end + 1; is(i, "const") || is(i, "volatile") || is_address_space(token(i)); ++i) {
                if (is_address_space(token(i))) {
                    return true;
                }
            }
            return false;
        });
    }

    std::string callee_text(const Function& function) const {
        Forwarding other;
        return read_callee(function, other) ? program_.text(other.callee) : "";
    }

    // The same for a declaration and its definition, whatever they call their parameters.
    std::string identity(const Forwarding& forwarding) const {
        std::string key = std::to_string(forwarding.function->scope) + ' ' + program_.text(forwarding.callee) + '(';
        for (const ForwardedParameter& parameter : forwarding.parameters) {
            key += program_.text({parameter.tokens.begin, parameter.name}) + ',';
        }
        return key + ')' + program_.text(forwarding.qualifiers);
    }

    const Program& program_;
    Temporaries result_;
    std::set<std::string> seen_;
};

}  // namespace

Temporaries find_temporaries(const Program& program) { return program.balanced ? Finder(program).run() : Temporaries{}; }

}  // namespace kfp::msl
