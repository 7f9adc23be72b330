#include "msl/kernels.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "msl/inputs.hpp"
#include "msl/preprocessor.hpp"
#include "msl/reach.hpp"

namespace kfp::msl {
namespace {

constexpr std::uint32_t max_bindings = 31;
constexpr std::size_t max_kernels = 256;
constexpr Index max_threadgroup_variables = 256;

class Reader {
public:
    Reader(const Program& program, Diagnostics& diagnostics) : program_(program), diagnostics_(diagnostics) {}

    Kernels run() {
        read_constants();
        for (Index f = 0; f < program_.functions.size(); ++f) {
            const Function& function = program_.functions[f];
            if (function.is_kernel && function.defined && function.name != none) {
                read_variables(f);
                if (!function.is_template) {
                    add_kernel(f, function.name, qualified(function), host_name(function.head).value_or(spelling(function.name)));
                }
            }
        }
        read_instantiations();
        look_into_kernels();
        return std::move(result_);
    }

private:
    bool is(Index i, std::string_view text) const { return program_.is(i, text); }
    const Token& token(Index i) const { return program_.token(i); }
    std::string spelling(Index i) const { return token(i).text; }
    void error(Index at, std::string message) { diagnostics_.error(program_.stream, token(at), std::move(message)); }

    std::string scope_path(Index scope) const {
        std::string path;
        for (Index s = scope; s != none; s = program_.scopes[s].parent) {
            if (!program_.scopes[s].name.empty()) {
                path = program_.scopes[s].name + "::" + path;
            }
        }
        return "::" + path;
    }
    std::string qualified(const Function& function) const { return scope_path(function.scope) + spelling(function.name); }

    template <typename Visit>
    void for_attributes(Range range, Visit visit) const {
        for (Index i = range.begin; i < range.end; ++i) {
            if (const AttributeGroup* group = program_.group_at(i)) {
                for (const Attribute& attribute : group->attributes) {
                    visit(attribute);
                }
                i = group->range.end - 1;
            }
        }
    }

    std::optional<std::string> host_name(Range head) const {
        std::optional<std::string> name;
        for_attributes(head, [&](const Attribute& attribute) {
            if (attribute.name != "host_name" || attribute.arguments.empty()) {
                return;
            }
            name.emplace();
            for (Index i = attribute.arguments.begin; i < attribute.arguments.end; ++i) {
                if (token(i).kind == TokenKind::string) {  // adjacent literals join
                    *name += token(i).text.substr(1, token(i).text.size() - 2);
                }
            }
        });
        return name;
    }

    // ---- integers in attributes

    std::optional<std::int64_t> integer(Range range, int depth = 0) {
        std::vector<Token> tokens;
        for (Index i = range.begin; i < range.end && depth < 8; ++i) {
            Token part = token(i);
            if (part.is_identifier() && (i + 1 >= range.end || !is(i + 1, "::"))) {
                const std::optional<std::int64_t> value = named_integer(part.text, depth);
                if (!value) {
                    return std::nullopt;
                }
                part.kind = TokenKind::number;
                part.text = std::to_string(*value);
            } else if (part.is_identifier() || part.is("::")) {
                continue;
            }
            tokens.push_back(std::move(part));
        }
        return tokens.empty() ? std::nullopt : evaluate_integer(tokens);
    }

    std::optional<std::int64_t> named_integer(const std::string& name, int depth) {
        if (!enumerators_read_) {
            enumerators_read_ = true;
            read_enumerators();
        }
        if (const auto found = enumerators_.find(name); found != enumerators_.end()) {
            return found->second;
        }
        for (Index i = 1; i + 1 < program_.stream.tokens.size(); ++i) {
            if (token(i).text == name && token(i - 1).is_identifier() && is(i + 1, "=")) {
                Index end = i + 2;
                while (!is(end, ";") && !is(end, ",") && token(end).kind != TokenKind::end) {
                    ++end;
                }
                return integer({i + 2, end}, depth + 1);
            }
        }
        return std::nullopt;
    }

    void read_enumerators() {
        for (Index i = 0; i + 1 < program_.stream.tokens.size(); ++i) {
            if (!is(i, "enum")) {
                continue;
            }
            Index open = i;
            while (!is(open, "{") && !is(open, ";") && token(open).kind != TokenKind::end) {
                ++open;
            }
            if (!is(open, "{")) {
                continue;
            }
            std::int64_t next = 0;
            for (const Range part : split_at_commas(program_, {open + 1, program_.match[open]})) {
                if (part.empty()) {
                    continue;
                }
                if (part.begin + 1 < part.end && is(part.begin + 1, "=")) {
                    next = integer({part.begin + 2, part.end}, 1).value_or(next);
                }
                enumerators_[spelling(part.begin)] = next++;
            }
        }
    }

    std::optional<std::uint32_t> index_argument(const Attribute& attribute, std::int64_t limit) {
        const std::optional<std::int64_t> value = integer(attribute.arguments);
        if (!value) {
            error(attribute.at, "'" + attribute.name + "' attribute requires an integer constant");
            return std::nullopt;
        }
        if (*value < 0 || *value >= limit) {
            error(attribute.at, "'" + attribute.name + "' attribute parameter is out of bounds: must be between 0 and " +
                                    std::to_string(limit - 1));
            return std::nullopt;
        }
        return static_cast<std::uint32_t>(*value);
    }

    // ---- kernels

    void add_kernel(Index f, Index name_token, std::string callee, std::string name) {
        const Function& function = program_.functions[f];
        if (result_.kernels.size() == max_kernels) {
            error(name_token, "too many kernels: at most " + std::to_string(max_kernels) + " are supported");
            return;
        }
        Kernel kernel;
        kernel.function = f;
        kernel.name_token = name_token;
        kernel.callee = std::move(callee);
        kernel.info.name = std::move(name);
        for_attributes(function.head, [&](const Attribute& attribute) { read_function_attribute(attribute, kernel); });
        const bool no_parameters = function.parameters.end == function.parameters.begin + 1 && is(function.parameters.begin, "void");
        if (!no_parameters) {
            for (const Range range : split_at_commas(program_, function.parameters)) {
                if (!range.empty()) {
                    kernel.info.parameters.push_back(read_parameter(range));
                    kernel.parameter_ranges.push_back(range);
                }
            }
        }
        number_parameters(kernel);
        const auto same = std::find_if(result_.kernels.begin(), result_.kernels.end(),
                                       [&](const Kernel& k) { return k.info.name == kernel.info.name; });
        if (same != result_.kernels.end()) {
            error(name_token, "redefinition of kernel '" + kernel.info.name + "'");
            return;
        }
        result_.kernels.push_back(std::move(kernel));
    }

    void read_function_attribute(const Attribute& attribute, Kernel& kernel) {
        if (attribute.name != "max_total_threads_per_threadgroup") {
            return;
        }
        const std::optional<std::int64_t> value = integer(attribute.arguments);
        if (!value || *value < 1) {
            // Of a template it may depend on the arguments; then the limit stays the device's.
            if (!program_.functions[kernel.function].is_template) {
                error(attribute.at, "'max_total_threads_per_threadgroup' attribute requires a positive integer constant");
            }
            return;
        }
        if (*value > 1024) {
            kernel.info.pipeline_error = "max_total_threads_per_threadgroup (" + std::to_string(*value) +
                                         ") exceeds the device's limit of 1024 threads per threadgroup";
        }
        kernel.info.max_total_threads_per_threadgroup = static_cast<std::uint32_t>(std::min<std::int64_t>(*value, 1024));
    }

    Parameter read_parameter(Range range) {
        Parameter parameter;
        parameter.kind = ParameterKind::other;
        std::vector<Token> type;
        Range bare{range.begin, range.begin};
        for (Index i = range.begin; i < range.end; ++i) {
            if (program_.group_at(i) != nullptr) {
                bare.end = bare.end == range.begin ? range.begin : bare.end;
                i = program_.match[i];
            } else if (is(i, "=")) {
                break;
            } else {
                bare.end = i + 1;
            }
        }
        const Index name = declared_name(program_, bare);
        const bool named = name != none && name > range.begin;
        parameter.name = named ? spelling(name) : "";
        parameter.type = type_text({range.begin, named ? name : bare.end});
        const bool indirect = has_any(bare, {"*", "&"}) || (named && name + 1 < bare.end && is(name + 1, "["));
        const Range alias = indirect ? Range{} : alias_in({range.begin, named ? name : bare.end});
        if (indirect || has_any(alias, {"*", "&"})) {
            parameter.kind = innermost_space(indirect ? bare : alias) == "threadgroup" ? ParameterKind::threadgroup : ParameterKind::buffer;
        } else if (parameter.type.rfind("texture", 0) == 0 || parameter.type.find("::texture") != std::string::npos) {
            parameter.kind = ParameterKind::texture;
        } else if (parameter.type == "sampler" || parameter.type == "metal::sampler") {
            parameter.kind = ParameterKind::sampler;
        }
        parameter.index = unnumbered;
        for_attributes(range, [&](const Attribute& attribute) { read_parameter_attribute(attribute, parameter); });
        return parameter;
    }

    // Without attributes.
    std::string type_text(Range range) const {
        std::string text;
        Index begin = range.begin;
        for (Index i = range.begin; i < range.end; ++i) {
            if (const AttributeGroup* group = program_.group_at(i)) {
                text += program_.text({begin, i});
                begin = group->range.end;
                i = begin - 1;
            }
        }
        return text + program_.text({begin, range.end});
    }

    Range alias_in(Range type) const {
        for (Index i = type.begin; i < type.end; ++i) {
            if (const auto found = program_.aliases.find(token(i).text); found != program_.aliases.end()) {
                return found->second;
            }
        }
        return {};
    }

    void read_parameter_attribute(const Attribute& attribute, Parameter& parameter) {
        const std::string& name = attribute.name;
        if (name == "buffer" || name == "threadgroup" || name == "texture" || name == "sampler") {
            const std::int64_t limit = name == "texture" ? 128 : name == "sampler" ? 16 : max_bindings;
            parameter.index = index_argument(attribute, limit).value_or(unnumbered);
            parameter.attribute = name;
        } else if (find_input_attribute(name) != nullptr) {
            parameter.kind = ParameterKind::input;
            parameter.attribute = name;
        }
    }

    bool has_any(Range range, std::initializer_list<std::string_view> words) const {
        for (Index i = range.begin; i < range.end; ++i) {
            if (std::any_of(words.begin(), words.end(), [&](std::string_view word) { return is(i, word); })) {
                return true;
            }
        }
        return false;
    }

    // The address space of what the pointer or reference points at.
    std::string innermost_space(Range range) const {
        for (Index i = range.begin; i < range.end && !is(i, "*") && !is(i, "&"); ++i) {
            if (is_address_space(token(i))) {
                return spelling(i);
            }
        }
        return "";
    }

    void number_parameters(Kernel& kernel) {
        for (const ParameterKind kind : {ParameterKind::buffer, ParameterKind::threadgroup, ParameterKind::texture, ParameterKind::sampler}) {
            std::vector<std::uint32_t> taken;
            for (std::size_t p = 0; p < kernel.info.parameters.size(); ++p) {
                const Parameter& parameter = kernel.info.parameters[p];
                if (parameter.kind != kind || parameter.index == unnumbered) {
                    continue;
                }
                if (std::find(taken.begin(), taken.end(), parameter.index) != taken.end()) {
                    error(kernel_parameter_name(kernel, p), "cannot reserve '" + parameter.attribute + "' resource location at index " +
                                                                std::to_string(parameter.index));
                }
                taken.push_back(parameter.index);
            }
            std::uint32_t next = 0;
            for (Parameter& parameter : kernel.info.parameters) {
                if (parameter.kind != kind || parameter.index != unnumbered) {
                    continue;
                }
                while (std::find(taken.begin(), taken.end(), next) != taken.end()) {
                    ++next;
                }
                parameter.index = next++;
                if (parameter.index >= max_bindings && kind != ParameterKind::texture) {
                    error(kernel.name_token, "too many parameters: no index between 0 and " + std::to_string(max_bindings - 1) + " is left for '" +
                                                 parameter.name + "'");
                    break;
                }
            }
        }
        for (Parameter& parameter : kernel.info.parameters) {
            parameter.index = parameter.index == unnumbered ? 0 : parameter.index;
        }
    }

    Index kernel_parameter_name(const Kernel& kernel, std::size_t p) const {
        const Range range = split_at_commas(program_, program_.functions[kernel.function].parameters)[p];
        const Index name = declared_name(program_, range);
        return name == none ? range.begin : name;
    }

    // ---- explicit instantiations: template [[host_name("f_float")]] [[kernel]] void f<float>(…); or decltype(f<float>) f<float>;

    void read_instantiations() {
        for (const Declaration& declaration : program_.declarations) {
            const Range tokens = declaration.tokens;
            if (declaration.function != none || tokens.begin == 0 || !is(tokens.begin - 1, "template")) {
                continue;
            }
            const std::optional<std::string> name = host_name(tokens);
            for (Index i = tokens.begin; i + 1 < tokens.end; ++i) {
                if (program_.match[i] != none && program_.match[i] > i) {
                    i = program_.match[i];
                } else if (token(i).is_identifier() && is(i + 1, "<")) {
                    const Index f = kernel_template(spelling(i));
                    const Index past = skip_angles(program_, i + 1, tokens.end);
                    if (f == none) {
                        i = past - 1;
                        continue;
                    }
                    const Function& function = program_.functions[f];
                    const std::string callee = qualified(function) + program_.text({i + 1, past});
                    add_kernel(f, i, callee, name.value_or(spelling(i)));
                    break;
                }
            }
        }
    }

    Index kernel_template(const std::string& name) const {
        for (Index f = 0; f < program_.functions.size(); ++f) {
            const Function& function = program_.functions[f];
            if (function.is_template && function.is_kernel && function.defined && function.name != none && spelling(function.name) == name) {
                return f;
            }
        }
        return none;
    }

    // ---- threadgroup variables and function constants

    void read_variables(Index f) {
        Index number = 0;
        for (const Declaration& declaration : program_.declarations) {
            if (declaration.function != f) {
                continue;
            }
            const Declarators parts = split_declaration(program_, declaration.tokens);
            if (!has_any(parts.specifiers, {"threadgroup"})) {
                continue;
            }
            for (const Range declarator : parts.list) {
                const Index name = declared_name(program_, declarator);
                if (number == max_threadgroup_variables) {
                    error(declaration.tokens.begin, "too many threadgroup variables: at most " + std::to_string(max_threadgroup_variables) +
                                                        " are supported in one kernel");
                    return;
                }
                if (name != none && name == declarator.begin) {
                    result_.variables.push_back({f, declaration.tokens, parts.specifiers, declarator, name, number++});
                }
            }
        }
    }

    void read_constants() {
        for (const Declaration& declaration : program_.declarations) {
            if (declaration.function != none) {
                continue;
            }
            for_attributes(declaration.tokens, [&](const Attribute& attribute) {
                if (attribute.name != "function_constant") {
                    return;
                }
                const Declarators parts = split_declaration(program_, declaration.tokens);
                const std::optional<std::uint32_t> index = index_argument(attribute, 65536);
                if (parts.list.size() == 1 && index) {
                    result_.constants.push_back({declared_name(program_, parts.list[0]), *index, parts.specifiers, declaration.scope});
                }
            });
        }
    }

    // ---- what kernels use

    static bool synchronises_by_name(std::string_view name) {
        return name.substr(0, 5) == "simd_" || name.substr(0, 5) == "quad_" || name.substr(0, 9) == "simdgroup" ||
               name == "threadgroup_barrier";
    }

    void look_into_kernels() {
        const Reach reach(program_);
        std::multimap<std::string_view, Index> constants;
        for (Index c = 0; c < result_.constants.size(); ++c) {
            constants.emplace(token(result_.constants[c].name).text, c);
        }
        for (Kernel& kernel : result_.kernels) {
            reach.from(kernel.function, [&](Index i) {
                kernel.synchronises = kernel.synchronises || synchronises_by_name(token(i).text);
                kernel.tests_constants = kernel.tests_constants || is(i, "is_function_constant_defined");
                const auto [first, last] = constants.equal_range(token(i).text);
                for (auto at = first; at != last; ++at) {
                    kernel.constants.insert(at->second);
                }
            });
        }
    }

    static constexpr std::uint32_t unnumbered = ~0U;

    const Program& program_;
    Diagnostics& diagnostics_;
    Kernels result_;
    std::map<std::string, std::int64_t, std::less<>> enumerators_;
    bool enumerators_read_ = false;
};

}  // namespace

Kernels read_kernels(const Program& program, Diagnostics& diagnostics) { return Reader(program, diagnostics).run(); }

}  // namespace kfp::msl
