#include "msl/rewrite.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "msl/conditionals.hpp"
#include "msl/constant_guards.hpp"
#include "msl/entry_points.hpp"
#include "msl/methods.hpp"
#include "msl/reconvergence.hpp"
#include "msl/reserved_names.hpp"
#include "msl/temporaries.hpp"
#include "msl/types.hpp"
#include "msl/vector_lists.hpp"

namespace kfp::msl {
namespace {

// Attributes in [[...]] that the compiler may see; all others have been read already or mean nothing to it.
bool is_for_compiler(std::string_view name) {
    return name == "maybe_unused" || name == "nodiscard" || name == "fallthrough" || name == "likely" || name == "unlikely" ||
           name == "clang::always_inline" || name == "clang::noinline" || name == "deprecated";
}

class Rewriter {
public:
    Rewriter(const Program& program, const Kernels& kernels, const CompileOptions& options)
        : program_(program), kernels_(kernels), options_(options), temporaries_(find_temporaries(program)), methods_(find_methods(program)),
          vector_lists_(find_short_vector_lists(program)), guards_(find_constant_guards(program)), conditionals_(find_conditionals(program)) {
        for (const auto& [begin, list] : vector_lists_) {
            list_ends_.insert(program.match[list.brace]);
        }
        for (const ThreadgroupVariable& variable : kernels.variables) {
            variables_[variable.declaration.begin].push_back(&variable);
        }
        for (const Function& function : program.functions) {
            Index specifiers = function.head.begin;
            while (const AttributeGroup* group = program.group_at(specifiers)) {
                specifiers = group->range.end;
            }
            functions_[specifiers] = &function;
            if (function.is_kernel) {
                hidden_parameter_[function.parameters.end] = &function;
            }
        }
        for (const Declaration& declaration : program.declarations) {
            declarations_[declaration.tokens.begin] = &declaration;
        }
        for (const Kernel& kernel : kernels.kernels) {
            entry_points_.emplace_back(program, kernel, entry_points_.size(), options);
            for (const Index open : entry_points_.back().guard().open) {
                grid_guards_[open + 1] = "!__kfp_clamped && (";
                grid_guards_[program.match[open]] = ")";
            }
        }
        for (const FunctionConstantVariable& constant : kernels.constants) {
            constants_[program.token(constant.name).text] = &constant;
        }
    }

    Rewritten run() {
        const Index end = static_cast<Index>(program_.stream.tokens.size()) - 1;
        for (Index i = 0; i < end;) {
            i = rewrite_at(i, end);
        }
        add_constants();
        define_derived();
        for (std::size_t k = 0; k < kernels_.kernels.size(); ++k) {
            for (const std::string& line : entry_points_[k].lines()) {
                put_ours(line, kernels_.kernels[k].name_token);
            }
        }
        return std::move(out_);
    }

private:
    bool is(Index i, std::string_view text) const { return program_.is(i, text); }
    const Token& token(Index i) const { return program_.token(i); }

    void put(std::string_view text, Index from, std::uint32_t added = 0) {
        out_.text += text;
        out_.text += '\n';
        out_.lines.push_back({from, added});
    }
    void put_ours(std::string_view text, Index near) { put(text, near, static_cast<std::uint32_t>(text.size())); }

    // Writes what stands at token i; returns the next index.
    Index rewrite_at(Index i, Index end) {
        if (const auto found = reconvergence_.before.find(i); found != reconvergence_.before.end()) {
            put_ours(found->second, i);
        }
        if (const auto found = variables_.find(i); found != variables_.end()) {
            return threadgroup_variables(found->second);
        }
        if (is_kernel_instantiation(i)) {
            while (i < end && !is(i, ";")) {
                ++i;
            }
            return i + 1;
        }
        if (const auto found = functions_.find(i); found != functions_.end()) {
            function_prefix(*found->second);
        } else if (const auto local = declarations_.find(i); local != declarations_.end()) {
            if (derives_from_constants(*local->second)) {
                return declare_derived(*local->second);
            }
            declaration_prefix(*local->second);
        }
        if (const auto found = hidden_parameter_.find(i); found != hidden_parameter_.end()) {
            const Range parameters = found->second->parameters;
            const bool none_given = parameters.empty() || (parameters.end == parameters.begin + 1 && is(parameters.begin, "void"));
            put_ours(none_given ? "" : ",", i);
            put_ours("__local char* __kfp_tg, bool __kfp_clamped", i);
        }
        if (const auto found = methods_.left_out.find(i); found != methods_.left_out.end()) {
            return found->second;
        }
        if (methods_.qualified_before.count(i) != 0) {
            put_ours("__private", i);
        }
        if (methods_.into_device_before.count(i) != 0) {
            put_ours("::__kfp::in_device(", i);
        }
        if (const auto found = grid_guards_.find(i); found != grid_guards_.end()) {
            put_ours(found->second, i);
        }
        if (const auto found = conditionals_.opened_before.find(i); found != conditionals_.opened_before.end()) {
            for (int n = 0; n < found->second; ++n) {
                put_ours("::__kfp::value(", i);
            }
        }
        const Index next = rewrite_token(i, end);
        for (Index j = i; j < next; ++j) {
            if (const auto found = conditionals_.closed_after.find(j); found != conditionals_.closed_after.end()) {
                put(std::string(static_cast<std::size_t>(found->second), ')'), j, 0);
            }
            if (methods_.into_device_after.count(j) != 0) {
                put(")", j, 0);
            }
            if (const auto found = temporaries_.after.find(j); found != temporaries_.after.end()) {
                overloads_for_temporaries(found->second);
            }
            if (const auto found = guards_.find(j); found != guards_.end()) {
                keep_device_memory_out(found->second);
            }
        }
        return next;
    }

    void keep_device_memory_out(const ConstantGuard& guard) {
        const Function& function = *guard.function;
        for (const Index word : guard.words) {
            put_tokens({template_begin(program_, function.head.begin), function.head.begin});
            function_prefix(function);
            put_tokens({function.head.begin, word});
            put_ours("const __attribute__((opencl_global_device))", word);
            put_tokens({word + 1, function.parameters.end + 1});
            put_tokens(guard.tail);
            put_ours("= delete;", word);
        }
    }

    void overloads_for_temporaries(const Forwarding& forwarding) {
        const unsigned all = (1U << forwarding.temporaries()) - 1;
        const bool deduced = forwarding.function->is_template;
        // A template can't deduce through a conversion, so it gets an overload for every choice of temporaries.
        const unsigned first = !deduced ? all : forwarding.in_thread ? 0 : 1;
        for (unsigned chosen = first; chosen <= all; ++chosen) {
            if (chosen == first || chosen == all || forwarding.temporaries() <= 3) {
                overload_head(forwarding, chosen, deduced, "");
                forward(forwarding, chosen, deduced);
            }
        }
        if (forwarding.keeps_others_out) {
            // Without these the overload for temporaries would take objects from anywhere.
            for (const auto& [space, memory] : {std::pair{"__global", "device or constant"}, {"__local", "threadgroup"}}) {
                overload_head(forwarding, 0, deduced, space);
                put_ours("= delete(\"an object in " + std::string(memory) + " memory, for a method of objects in thread memory\");",
                         forwarding.callee.begin);
            }
        }
    }

    void put_tokens(Range range, std::string_view but_not = "") {
        for (Index i = range.begin; i < range.end;) {
            i = !but_not.empty() && is(i, but_not) ? i + 1 : rewrite_token(i, range.end);
        }
    }

    void overload_head(const Forwarding& forwarding, unsigned chosen, bool deduced, std::string_view space) {
        const Function& function = *forwarding.function;
        put_tokens({template_begin(program_, function.head.begin), function.head.begin});
        function_prefix(function);
        put_tokens({function.head.begin, function.parameters.begin});
        unsigned bit = 1;
        for (const ForwardedParameter& parameter : forwarding.parameters) {
            if (&parameter != &forwarding.parameters.front()) {
                put_ours(",", parameter.name);
            }
            const bool temporary = parameter.takes_temporary() && (chosen & bit) != 0;
            bit <<= parameter.takes_temporary() ? 1U : 0U;
            if (temporary && !deduced) {
                put_ours("::__kfp::temporary<", parameter.name);
                put_tokens(parameter.type);
                put_ours(">", parameter.name);
                put_tokens({parameter.name, parameter.tokens.end});
            } else {
                put_tokens(parameter.tokens, temporary ? "thread" : "");
            }
        }
        put_ours(")", forwarding.callee.begin);
        put_tokens(forwarding.qualifiers, forwarding.in_thread ? "thread" : "");
        put_ours(forwarding.space_implied && !forwarding.in_thread ? "__private" : space, forwarding.callee.begin);
        put_tokens(forwarding.rest);
    }

    void forward(const Forwarding& forwarding, unsigned chosen, bool deduced) {
        const Index near = forwarding.callee.begin;
        put_ours("{ return", near);
        if (!forwarding.record.empty()) {
            put_ours(forwarding.in_thread ? "::__kfp::in_thread(this)->" : "this->", near);
            put_ours(forwarding.template_arguments.empty() ? "" : "template", near);
        }
        put_tokens(forwarding.callee);
        std::string separator = forwarding.template_arguments.empty() ? "" : "<";
        for (const std::string& argument : forwarding.template_arguments) {
            put_ours(separator + argument, near);
            separator = ",";
        }
        put_ours(forwarding.template_arguments.empty() ? "(" : ">(", near);
        unsigned bit = 1;
        for (const ForwardedParameter& parameter : forwarding.parameters) {
            if (&parameter != &forwarding.parameters.front()) {
                put_ours(",", near);
            }
            const bool temporary = parameter.takes_temporary() && (chosen & bit) != 0;
            bit <<= parameter.takes_temporary() ? 1U : 0U;
            if (temporary && deduced) {
                put_ours("(const __private", near);
                put_tokens(parameter.type);
                put_ours("&)", near);
            }
            identifier(parameter.name);
            if (temporary && !deduced) {
                put_ours(".object", near);
            }
        }
        put_ours("); }", near);
    }

    Index rewrite_token(Index i, Index end) {
        if (temporaries_.dropped.count(i) != 0) {
            return i + 1;
        }
        if (const AttributeGroup* group = program_.group_at(i)) {
            keep_attributes(*group);
            return group->range.end;
        }
        if (const auto list = vector_lists_.find(i); list != vector_lists_.end()) {
            put((list->second.initializes ? "= ::__kfp::listed<" : "::__kfp::listed<") + list->second.type + ">(", i);
            return list->second.brace + 1;
        }
        const Token& t = token(i);
        if (list_ends_.count(i) != 0) {
            put(")", i);
        } else if (t.kind == TokenKind::pragma) {
            put("#" + t.text, i, 1);
        } else if (t.kind == TokenKind::number) {
            number(i);
        } else if (!t.is_identifier()) {
            put(t.text, i);
        } else if (t.is("is_function_constant_defined") && i + 3 < end && is(i + 1, "(") && is(i + 3, ")")) {
            put(has_value(token(i + 2).text) ? "true" : "false", i);
            return i + 4;
        } else if (t.is("void") && hidden_parameter_.count(i + 1) != 0 && is(i - 1, "(")) {
            return i + 1;  // f(void): the hidden parameter takes its place
        } else {
            identifier(i);
        }
        return i + 1;
    }

    void identifier(Index i) {
        const Token& t = token(i);
        if (t.is("device") && methods_.spaces.count(i) != 0) {
            put("__global", i);
        } else if (t.is("device")) {
            put("__attribute__((opencl_global_device))", i);
        } else if (t.is("constant")) {
            put("const __global", i);
        } else if (t.is("threadgroup")) {
            put("__local", i);
        } else if (t.is("thread")) {
            put("__private", i);
        } else if (t.is("restrict")) {
            put("__restrict", i);
        } else if (t.is("kernel")) {
            // The entry points are ours; the user's function is an ordinary one.
        } else if (reconvergence_.while_as_for.count(i) != 0) {
            put("for", i);
        } else if (is_reserved_name(t.text)) {
            put(std::string(reserved_prefix) + t.text, i, static_cast<std::uint32_t>(reserved_prefix.size()));
        } else {
            put(t.text, i);
        }
    }

    void number(Index i) {
        const std::string& text = token(i).text;
        const bool hexadecimal = text.size() > 1 && (text[1] == 'x' || text[1] == 'X');
        const std::string suffix = text.size() > 2 ? text.substr(text.size() - 2) : "";
        if (!hexadecimal && (suffix == "bf" || suffix == "BF")) {
            put("bfloat(" + text.substr(0, text.size() - 2) + "f)", i, 7);
        } else {
            put(text, i);
        }
    }

    void keep_attributes(const AttributeGroup& group) {
        for (const Attribute& attribute : group.attributes) {
            if (is_for_compiler(attribute.name)) {
                put("[[" + attribute.name + "]]", attribute.at, 2);
            }
        }
    }

    // Internal linkage: what no kernel uses is then not compiled, and nothing is exported but the entry points.
    void function_prefix(const Function& function) {
        const bool member = program_.scopes[function.scope].kind == ScopeKind::record;
        const Index callee = callee_begin(program_, function);
        bool has_storage = callee != none && callee > 0 && is(callee - 1, "::");
        for (Index i = function.head.begin; i < function.parameters.begin; ++i) {
            has_storage = has_storage || is(i, "static") || is(i, "extern") || is(i, "friend");
        }
        if (function.is_kernel) {
            put_ours(function.is_template || has_storage ? "__attribute__((always_inline))" : "static __attribute__((always_inline))",
                     function.head.begin);
        } else if (!member && !has_storage && !function.is_template && !function.is_explicit_instantiation && function.name != none) {
            put_ours("static", function.head.begin);
        }
        // In line, so that each of its operations has a place in the code for every way that leads to it.
        if (!function.is_kernel && !function.is_explicit_instantiation && function.name != none &&
            reconvergence_.exchanging.count(token(function.name).text) != 0) {
            put_ours("__attribute__((always_inline))", function.head.begin);
        }
    }

    // A `constant` variable within a function has static storage; a function constant is defined at the end of the text,
    // so that no constant expression can be made of it.
    void declaration_prefix(const Declaration& declaration) {
        const Declarators parts = split_declaration(program_, declaration.tokens);
        bool in_constant = false;
        bool has_static = false;
        for (Index i = parts.specifiers.begin; i < parts.specifiers.end; ++i) {
            in_constant = in_constant || is(i, "constant");
            has_static = has_static || is(i, "static") || is(i, "using") || is(i, "typedef");
        }
        if (!in_constant || has_static || parts.list.empty()) {
            return;
        }
        const Index name = declared_name(program_, parts.list[0]);
        if (declaration.function != none && name == parts.list[0].begin) {
            put_ours("static", declaration.tokens.begin);
        } else if (declaration.function == none && name != none && is_function_constant(name)) {
            put_ours("extern", declaration.tokens.begin);
        }
    }

    // A program-scope variable whose initializer uses a function constant is defined after it, at the end of the text.
    bool derives_from_constants(const Declaration& declaration) const {
        if (constants_.empty() || declaration.function != none || program_.scopes[declaration.scope].kind == ScopeKind::record) {
            return false;
        }
        const Declarators parts = split_declaration(program_, declaration.tokens);
        if (parts.list.size() != 1 || declared_name(program_, parts.list[0]) != parts.list[0].begin || is_function_constant(parts.list[0].begin)) {
            return false;
        }
        bool in_initializer = false;
        for (Index i = parts.list[0].begin; i < parts.list[0].end; ++i) {
            in_initializer = in_initializer || is(i, "=") || is(i, "{");
            if (in_initializer && (constants_.count(token(i).text) != 0 || derived_names_.count(token(i).text) != 0)) {
                return true;
            }
        }
        return false;
    }

    Index declare_derived(const Declaration& declaration) {
        const Declarators parts = split_declaration(program_, declaration.tokens);
        const Range declarator = parts.list[0];
        put_ours("extern", declaration.tokens.begin);
        for (Index i = parts.specifiers.begin; i < parts.specifiers.end;) {
            i = is(i, "static") || is(i, "constexpr") || is(i, "inline") ? i + 1 : rewrite_token(i, parts.specifiers.end);
        }
        Index end = declarator.begin;
        while (end < declarator.end && !is(end, "=") && !is(end, "{")) {
            ++end;
        }
        put_tokens({declarator.begin, end});
        derived_.push_back(&declaration);
        derived_names_.insert(token(declarator.begin).text);
        return declaration.tokens.end;
    }

    void define_derived() {
        for (const Declaration* declaration : derived_) {
            const std::vector<std::string> path = namespaces(declaration->scope);
            for (const std::string& part : path) {
                put_ours("namespace " + part + " {", declaration->tokens.begin);
            }
            for (Index i = declaration->tokens.begin; i < declaration->tokens.end;) {
                i = is(i, "static") ? i + 1 : rewrite_token(i, declaration->tokens.end);
            }
            put_ours(";" + std::string(path.size(), '}'), declaration->tokens.begin);
        }
    }

    bool is_function_constant(Index name) const {
        return std::any_of(kernels_.constants.begin(), kernels_.constants.end(),
                           [&](const FunctionConstantVariable& constant) { return constant.name == name; });
    }

    bool is_kernel_instantiation(Index i) const {
        return is(i, "template") && !is(i + 1, "<") &&
               std::any_of(kernels_.kernels.begin(), kernels_.kernels.end(), [&](const Kernel& kernel) {
                   const auto declaration = declarations_.find(i + 1);
                   return declaration != declarations_.end() && kernel.name_token >= declaration->second->tokens.begin &&
                          kernel.name_token < declaration->second->tokens.end;
               });
    }

    Index threadgroup_variables(const std::vector<const ThreadgroupVariable*>& variables) {
        for (const ThreadgroupVariable* variable : variables) {
            const std::string type = "__kfp_t" + std::to_string(variable->number);
            put_ours("typedef", variable->specifiers.begin);
            for (Index i = variable->specifiers.begin; i < variable->specifiers.end;) {
                if (is(i, "alignas") && is(i + 1, "(")) {
                    i = program_.match[i + 1] + 1;
                } else if (is(i, "threadgroup") || is(i, "static") || is(i, "inline")) {
                    ++i;
                } else {
                    i = rewrite_token(i, variable->specifiers.end);
                }
            }
            put_ours(type, variable->name);
            for (Index i = variable->name + 1; i < variable->declarator.end;) {
                i = rewrite_token(i, variable->declarator.end);
            }
            put_ours(";", variable->name);
            put_ours("__local " + type + "&", variable->name);
            identifier(variable->name);
            put_ours("= ::__kfp::slot<" + type + ", " + std::to_string(variable->number) + ", sizeof(" + type + "), alignof(" + type +
                         ")>(__kfp_tg);",
                     variable->name);
        }
        const Range declaration = variables.front()->declaration;
        return is(declaration.end, ";") ? declaration.end + 1 : declaration.end;
    }

    // ---- text of ours at the end

    const FunctionConstant* value_of(const std::string& name) const {
        const auto variable = constants_.find(name);
        if (variable == constants_.end()) {
            return nullptr;
        }
        for (const FunctionConstant& constant : options_.constants) {
            if (constant.index == variable->second->index) {
                return &constant;
            }
        }
        return nullptr;
    }
    bool has_value(const std::string& name) const { return value_of(name) != nullptr; }

    void add_constants() {
        for (const FunctionConstantVariable& variable : kernels_.constants) {
            const std::string& name = token(variable.name).text;
            const std::vector<std::string> path = namespaces(variable.scope);
            for (const std::string& part : path) {
                put_ours("namespace " + part + " {", variable.name);
            }
            for (Index i = variable.type.begin; i < variable.type.end;) {
                i = rewrite_token(i, variable.type.end);
            }
            identifier(variable.name);
            std::string value = " = decltype(" + name + ")();";
            if (const FunctionConstant* constant = value_of(name)) {
                value = " = ::__kfp::constant_value<__remove_cv(decltype(" + name + "))>(";
                for (const std::byte byte : constant->value) {
                    value += (value.back() == '(' ? "" : ", ") + std::string("(uchar)") + std::to_string(std::to_integer<int>(byte));
                }
                value += ");";
            }
            put_ours(value + std::string(path.size(), '}'), variable.name);
        }
    }

    std::vector<std::string> namespaces(Index scope) const {
        std::vector<std::string> path;
        for (Index s = scope; s != none; s = program_.scopes[s].parent) {
            if (program_.scopes[s].kind == ScopeKind::name_space) {
                path.insert(path.begin(), program_.scopes[s].name);
            }
        }
        return path;
    }

    const Program& program_;
    const Kernels& kernels_;
    const CompileOptions& options_;
    const Temporaries temporaries_;
    const Reconvergence reconvergence_ = find_reconvergence(program_);
    const Methods methods_;
    const std::map<Index, VectorList> vector_lists_;
    std::set<Index> list_ends_;
    const std::map<Index, ConstantGuard> guards_;
    std::map<Index, std::vector<const ThreadgroupVariable*>> variables_;
    std::map<Index, const Function*> functions_;
    std::map<Index, const Function*> hidden_parameter_;
    std::deque<EntryPoint> entry_points_;  // by number of the kernel
    std::map<Index, std::string> grid_guards_;  // text before these tokens
    std::map<Index, const Declaration*> declarations_;
    std::map<std::string, const FunctionConstantVariable*, std::less<>> constants_;
    std::vector<const Declaration*> derived_;
    std::set<std::string, std::less<>> derived_names_;
    Conditionals conditionals_;
    Rewritten out_;
};

}  // namespace

Rewritten rewrite(const Program& program, const Kernels& kernels, const CompileOptions& options) {
    return Rewriter(program, kernels, options).run();
}

}  // namespace kfp::msl
