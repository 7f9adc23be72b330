#include "msl/signature_rule.hpp"

#include <algorithm>
#include <set>

#include "msl/inputs.hpp"
#include "msl/types.hpp"

namespace kfp::msl {
namespace {

bool is_binding_attribute(std::string_view name) {
    return name == "buffer" || name == "threadgroup" || name == "texture" || name == "sampler" || name == "function_constant";
}

class Checker {
public:
    Checker(const Program& program, const Kernels& kernels, Diagnostics& diagnostics)
        : program_(program), kernels_(kernels), diagnostics_(diagnostics) {}

    void run() {
        std::set<Index> seen;
        for (const Kernel& kernel : kernels_.kernels) {
            if (!seen.insert(kernel.function).second) {
                continue;
            }
            check_return_type(program_.functions[kernel.function]);
            int components = 0;
            for (std::size_t p = 0; p < kernel.info.parameters.size(); ++p) {
                check_parameter(kernel.info.parameters[p], kernel.parameter_ranges[p], components);
            }
        }
    }

private:
    bool is(Index i, std::string_view text) const { return program_.is(i, text); }
    const Token& token(Index i) const { return program_.token(i); }
    void error(Index i, std::string message) { diagnostics_.error(program_.stream, token(i), std::move(message)); }

    void check_return_type(const Function& function) {
        Index type = function.name;
        while (type > function.head.begin && is(type - 1, "]")) {
            type = program_.match[type - 1];
        }
        if (type > function.head.begin && !is(type - 1, "void")) {
            error(function.name, "kernel must have void return type");
        }
    }

    // Name of the parameter, or where it begins.
    Index place(Range range) const {
        const Index name = declared_name(program_, range);
        return name == none ? range.begin : name;
    }

    void check_parameter(const Parameter& parameter, Range range, int& components) {
        const Index at = place(range);
        bool has_attribute = false;
        for (Index i = range.begin; i < range.end; ++i) {
            const AttributeGroup* group = program_.group_at(i);
            if (group == nullptr) {
                continue;
            }
            for (const Attribute& attribute : group->attributes) {
                has_attribute = has_attribute || !is_binding_attribute(attribute.name);
                check_attribute(attribute, parameter, *group, range, at);
            }
            i = group->range.end - 1;
        }
        if (parameter.kind == ParameterKind::texture || parameter.kind == ParameterKind::sampler) {
            error(at, "'" + parameter.type + "' is not supported on this device");
        } else if (parameter.kind == ParameterKind::input) {
            check_input(parameter, at, components);
        } else if (parameter.kind == ParameterKind::other && !has_attribute) {
            error(at, "invalid type '" + parameter.type + "' for parameter '" + parameter.name +
                          "' of a kernel: expected a device or constant pointer or reference, or an input attribute");
        } else if (parameter.kind == ParameterKind::buffer) {
            check_buffer(parameter, at);
        }
    }

    void check_attribute(const Attribute& attribute, const Parameter& parameter, const AttributeGroup& group, Range range, Index at) {
        const std::string& name = attribute.name;
        const bool is_input = find_input_attribute(name) != nullptr;
        if (!is_input && !is_binding_attribute(name)) {
            if (name != "maybe_unused" && name != "clang::maybe_unused") {
                error(attribute.at, name == "stage_in" || name == "color" || name == "position"
                                        ? "'" + name + "' is not an attribute of a kernel's parameter"
                                        : "unknown attribute '" + name + "' of a kernel's parameter");
            }
            return;
        }
        const Index begin = group.range.begin;
        if (begin != range.begin && begin > at + 1 && !is(begin - 1, "]")) {
            return;
        }
        if (begin != range.begin && begin <= at) {
            error(attribute.at, "'" + name + "' attribute cannot be applied to types");
        } else if (name == "buffer" && parameter.kind != ParameterKind::buffer) {
            error(at, "invalid type '" + parameter.type + "' for buffer declaration");
        } else if (name == "threadgroup" && parameter.kind != ParameterKind::threadgroup) {
            error(at, "'threadgroup' attribute only applies to parameters that point into the threadgroup address space");
        }
        if (is_input && attribute.has_arguments) {
            error(attribute.at, "'" + name + "' attribute takes no arguments");
        }
    }

    void check_buffer(const Parameter& parameter, Index at) {
        const std::string_view type = parameter.type;
        const std::size_t star = type.find_first_of("*&");
        const std::string_view pointee = type.substr(0, star);
        const auto names = [&](std::string_view word) { return (" " + std::string(pointee) + " ").find(" " + std::string(word) + " ") != std::string::npos; };
        if (names("thread")) {
            error(at, "invalid address space qualifier 'thread' for buffer declaration of '" + parameter.name + "'");
        }
    }

    void check_input(const Parameter& parameter, Index at, int& components) {
        const InputAttribute& attribute = *find_input_attribute(parameter.attribute);
        std::string type = parameter.type;
        for (const std::string_view noise : {"const ", "metal::", "thread ", "volatile "}) {
            for (std::size_t found = type.find(noise); found != std::string::npos; found = type.find(noise)) {
                type.erase(found, noise.size());
            }
        }
        if (type.rfind(" const") != std::string::npos && type.rfind(" const") + 6 == type.size()) {
            type.resize(type.size() - 6);
        }
        if (type == "unsigned" || type == "unsigned int") {
            type = "uint";
        } else if (type == "unsigned short") {
            type = "ushort";
        } else if (type.rfind("vec<", 0) == 0 && type.size() > 6) {
            type = type.substr(4, type.find(',') - 4) + type[type.size() - 2];
        }
        const std::optional<VectorType> vector = parse_vector_type(type);
        if (!vector && program_.type_names.count(type) != 0) {
            return;  // an alias: the compiler will say
        }
        const bool fits = vector && (vector->scalar == "uint" || vector->scalar == "ushort") && type.rfind("packed_", 0) != 0 &&
                          (vector->components == 1 || (attribute.may_be_vector && vector->components < 4));
        if (!fits) {
            error(at, "invalid type '" + parameter.type + "' for input declaration with attribute '" + parameter.attribute +
                          "': expected ushort or uint" + (attribute.may_be_vector ? ", or a vector of 2 or 3 of them" : ""));
            return;
        }
        if (!attribute.may_be_vector) {
            return;
        }
        if (components != 0 && components != vector->components) {
            error(at, "expecting input declarations with either all scalar types or all vector types with the same number of elements");
        }
        components = components == 0 ? vector->components : components;
    }

    const Program& program_;
    const Kernels& kernels_;
    Diagnostics& diagnostics_;
};

}  // namespace

void check_signatures(const Program& program, const Kernels& kernels, Diagnostics& diagnostics) { Checker(program, kernels, diagnostics).run(); }

}  // namespace kfp::msl
