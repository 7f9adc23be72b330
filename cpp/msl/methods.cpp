#include "msl/methods.hpp"

#include <algorithm>
#include <string>

namespace kfp::msl {
namespace {

class Finder {
public:
    explicit Finder(const Program& program) : program_(program) {}

    Methods run() {
        for (const Function& function : program_.functions) {
            look_at(function);
        }
        return std::move(result_);
    }

private:
    bool is(Index i, std::string_view text) const { return program_.is(i, text); }
    const Token& token(Index i) const { return program_.token(i); }

    // A method that names no address space is one of objects in thread memory. One of device objects is declared for
    // constant ones too (there is no other way to say it), so the overload for constant objects is left out then.
    void look_at(const Function& function) {
        const std::string record = record_of(function);
        const bool defined_outside = program_.scopes[function.scope].kind != ScopeKind::record;
        if (record.empty() && defined_outside) {
            return;
        }
        const Index callee = callee_begin(program_, function);
        const std::string identity = record + (defined_outside ? " outside " : " ") + std::to_string(function.scope) + ' ' +
                                     program_.text({callee == none ? function.head.begin : callee, function.parameters.end});
        if (function.name != none && (token(function.name).text == record || (function.name > 0 && is(function.name - 1, "~")))) {
            make_constructor_general(function, identity);
            return;
        }
        Index i = function.parameters.end + 1;
        bool spaced = false;
        bool is_const = false;
        bool in_device = false;
        for (; is(i, "const") || is(i, "volatile") || is_address_space(token(i)); ++i) {
            spaced = spaced || is_address_space(token(i));
            is_const = is_const || is(i, "const") || is(i, "constant");
            if (is(i, "device") || is(i, "constant")) {
                in_device = true;
                result_.spaces.insert(i);
            }
        }
        if (in_device) {
            if (is_const && !of_constants_.insert(identity).second) {
                leave_out(function);
            }
            return_device(function);
        }
        if (spaced || is_static(function) ||
            (defined_outside && function.name != none && declared_static(record, token(function.name).text))) {
            return;
        }
        if (is(i, "{") || is(i, ";") || is(i, "&") || is(i, "->") || is(i, "noexcept") || program_.group_at(i) != nullptr) {
            result_.qualified_before.insert(i);
        }
    }

    // A constructor that names no address space makes objects in all of them, temporaries among them, which one that does
    // would not: so the first of those that differ in the address space only stands for all.
    void make_constructor_general(const Function& function, const std::string& identity) {
        bool spaced = false;
        for (Index i = function.parameters.end + 1; is_address_space(token(i)); ++i) {
            spaced = true;
            result_.left_out[i] = i + 1;
        }
        if (spaced && !general_constructors_.insert(identity).second) {
            leave_out(function);
        }
    }

    void leave_out(const Function& function) {
        result_.left_out[template_begin(program_, function.head.begin)] = function.defined ? function.body.end + 1 : function.head.end;
    }

    // The members of a device object are to the compiler in __global memory, which isn't `device`.
    void return_device(const Function& function) {
        bool device = false;
        bool indirect = false;
        for (Index i = function.head.begin; i < callee_begin(program_, function); ++i) {
            device = device || is(i, "device");
            indirect = indirect || is(i, "*") || is(i, "&");
        }
        for (Index i = function.body.begin; device && indirect && i < function.body.end; ++i) {
            if (is(i, "return") && !is(i + 1, ";")) {
                result_.into_device_before.insert(i + 1);
                while (!is(i, ";")) {
                    ++i;
                }
                result_.into_device_after.insert(i - 1);
            }
        }
    }

    // The record that a function is a method of: declared in it, or defined outside as Record::name. Empty for none.
    std::string record_of(const Function& function) const {
        const Scope& scope = program_.scopes[function.scope];
        if (scope.kind == ScopeKind::record) {
            return scope.name;
        }
        const Index name = callee_begin(program_, function);
        if (name == none || name < 2 || !is(name - 1, "::")) {
            return "";
        }
        Index i = name - 2;
        for (int depth = is(i, ">") ? 1 : 0; depth > 0 && i > function.head.begin;) {
            --i;
            depth += is(i, ">") ? 1 : is(i, "<") ? -1 : 0;
            i -= depth == 0 ? 1U : 0U;
        }
        return is_record(token(i).text) ? token(i).text : "";
    }

    bool is_record(const std::string& name) const {
        return std::any_of(program_.scopes.begin(), program_.scopes.end(),
                           [&](const Scope& scope) { return scope.kind == ScopeKind::record && scope.name == name; });
    }

    bool is_static(const Function& function) const {
        for (Index i = function.head.begin; i < function.parameters.begin; ++i) {
            if (is(i, "static") || is(i, "friend") || is(i, "using") || is(i, "typedef")) {
                return true;
            }
        }
        return false;
    }

    bool declared_static(const std::string& record, const std::string& name) const {
        return std::any_of(program_.functions.begin(), program_.functions.end(), [&](const Function& function) {
            return program_.scopes[function.scope].kind == ScopeKind::record && program_.scopes[function.scope].name == record &&
                   function.name != none && token(function.name).text == name && is_static(function);
        });
    }

    const Program& program_;
    Methods result_;
    std::set<std::string> of_constants_;
    std::set<std::string> general_constructors_;
};

}  // namespace

Methods find_methods(const Program& program) { return program.balanced ? Finder(program).run() : Methods{}; }

Index callee_begin(const Program& program, const Function& function) {
    for (Index i = function.head.begin; i < function.parameters.begin; ++i) {
        if (program.is(i, "operator")) {
            return i;
        }
    }
    return function.name;
}

Index template_begin(const Program& program, Index begin) {
    if (begin == 0 || !program.is(begin - 1, ">")) {
        return begin;
    }
    Index i = begin - 1;
    for (int depth = 1; depth > 0 && i > 0;) {
        --i;
        depth += program.is(i, ">") ? 1 : program.is(i, ">>") ? 2 : program.is(i, "<") ? -1 : 0;
    }
    return i > 0 && program.is(i - 1, "template") ? i - 1 : begin;
}

}  // namespace kfp::msl
