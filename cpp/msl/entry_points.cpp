#include "msl/entry_points.hpp"

#include "msl/inputs.hpp"

namespace kfp::msl {
namespace {

constexpr const char* function_pointers = "#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable";
constexpr const char* head = "extern \"C\" __attribute__((visibility(\"default\"))) void ";
constexpr const char* place =
    "[[maybe_unused]] const ::__kfp::thread_place __kfp_p{__kfp_l, __kfp_x, __kfp_y, __kfp_z};";

std::string extent_of(const std::string& axis) { return "__kfp_l.threads_per_threadgroup[" + axis + "]"; }

std::string parameter(std::size_t p) {
    return std::string("__kfp_s::template parameter<").append(std::to_string(p)).append(">::");
}

std::set<std::string, std::less<>> held_parameters(const Program& program, const Kernel& kernel, const CompileOptions& options) {
    std::set<std::string, std::less<>> names;
    for (std::size_t p = 0; p < kernel.info.parameters.size() && !options.checked; ++p) {
        bool in_constant_memory = false;
        bool by_reference = false;
        for (Index i = kernel.parameter_ranges[p].begin; i < kernel.parameter_ranges[p].end; ++i) {
            in_constant_memory = in_constant_memory || program.is(i, "constant");
            by_reference = by_reference || program.is(i, "&");
        }
        if (kernel.info.parameters[p].kind == ParameterKind::buffer && in_constant_memory && by_reference) {
            names.insert(kernel.info.parameters[p].name);
        }
    }
    return names;
}

}  // namespace

EntryPoint::EntryPoint(const Program& program, const Kernel& kernel, std::size_t number, const CompileOptions& options)
    : program_(program), kernel_(kernel), number_(std::to_string(number)), options_(options),
      held_(held_parameters(program, kernel, options)), guard_(find_grid_guard(program, kernel, held_)) {}

// One of the two: optimising a kernel's body twice would double the time that compiling takes.
std::vector<std::string> EntryPoint::lines() const {
    return kernel_.synchronises || options_.checked || options_.check_only ? for_a_thread() : for_a_threadgroup();
}

std::vector<std::string> EntryPoint::for_a_thread() const {
    return {function_pointers,
            head + std::string("__kfp_thread_").append(number_) +
                "(const __private kfp_launch* __kfp_in, uint __kfp_x, uint __kfp_y, uint __kfp_z) {",
            launch(),
            place,
            held_arguments(),
            call("false"),
            "}"};
}

std::vector<std::string> EntryPoint::for_a_threadgroup() const {
    return {function_pointers,
            head + std::string("__kfp_group_").append(number_) + "(const __private kfp_launch* __kfp_in) {",
            launch(),
            held_arguments(),
            "constexpr bool __kfp_clamped = " + is_clamped() + ";",
            extent(0),
            extent(1),
            extent(2),
            "for (uint __kfp_z = 0; __kfp_z < __kfp_n2; ++__kfp_z)",
            "for (uint __kfp_y = 0; __kfp_y < __kfp_n1; ++__kfp_y)",
            "#pragma clang loop vectorize(assume_safety)",
            "for (uint __kfp_x = 0; __kfp_x < __kfp_n0; ++__kfp_x) {",
            place,
            call("__kfp_clamped"),
            "}}"};
}

// A bound's text with the arguments that are held in the place of the parameters.
std::string EntryPoint::in_entry_point(Range bound) const {
    std::string text = "(";
    for (Index i = bound.begin; i < bound.end; ++i) {
        std::string word = program_.token(i).text;
        for (std::size_t p = 0; p < kernel_.info.parameters.size(); ++p) {
            if (is_held(p) && kernel_.info.parameters[p].name == word) {
                word = argument(p);
                break;
            }
        }
        text.append(word).append(" ");
    }
    return text.append(")");
}

// Whether all bounds are of types that compare with a position as whole numbers of 32 bits.
std::string EntryPoint::is_clamped() const {
    std::string text = guard_.empty() ? "false" : "true";
    for (const std::vector<Range>& bounds : guard_.bounds) {
        for (const Range bound : bounds) {
            text.append(" && ::__kfp::bounds_positions<decltype(").append(in_entry_point(bound)).append(")>");
        }
    }
    return text;
}

std::string EntryPoint::extent(std::size_t axis) const {
    const std::string n = std::to_string(axis);
    std::string value = extent_of(n);
    for (const Range bound : guard_.bounds[axis]) {
        value.insert(0, "::__kfp::clamped<__kfp_clamped>(__kfp_l, " + n + ", ");
        value.append(", ").append(in_entry_point(bound)).append(")");
    }
    return std::string("const uint __kfp_n").append(n).append(" = ").append(value).append(";");
}

std::string EntryPoint::launch() const {
    return "typedef ::__kfp::signature<decltype(" + kernel_.callee +
           ")> __kfp_s [[maybe_unused]]; const kfp_launch __kfp_l = *__kfp_in;";
}

bool EntryPoint::is_held(std::size_t p) const { return held_.count(kernel_.info.parameters[p].name) != 0; }

std::string EntryPoint::held_arguments() const {
    std::string text;
    for (std::size_t p = 0; p < kernel_.info.parameters.size(); ++p) {
        if (is_held(p)) {
            text.append("const typename ").append(parameter(p)).append("held __kfp_h").append(std::to_string(p));
            text.append("(__kfp_l.buffers[").append(std::to_string(kernel_.info.parameters[p].index)).append("]); ");
        }
    }
    return text;
}

std::string EntryPoint::argument(std::size_t p) const {
    const Parameter& declared = kernel_.info.parameters[p];
    const std::string index = std::to_string(declared.index);
    if (is_held(p)) {
        return std::string("__kfp_h").append(std::to_string(p)).append(".get()");
    }
    if (declared.kind == ParameterKind::buffer) {
        return parameter(p) + "memory(__kfp_l.buffers[" + index + "])";
    }
    if (declared.kind == ParameterKind::threadgroup) {
        return parameter(p) + "memory(__kfp_l.threadgroup_arguments[" + index + "])";
    }
    const InputAttribute* input = find_input_attribute(declared.attribute);
    return parameter(p) + "input(__kfp_p." + std::string(input != nullptr ? input->expression : "grid_origin") + "())";
}

// `clamped`: that no thread need ask whether it is beyond the grid.
std::string EntryPoint::call(const char* clamped) const {
    std::string text = kernel_.callee + "(";
    for (std::size_t p = 0; p < kernel_.info.parameters.size(); ++p) {
        text.append(argument(p)).append(", ");
    }
    return text.append("__kfp_l.threadgroup_memory, ").append(clamped).append(");");
}

}  // namespace kfp::msl
