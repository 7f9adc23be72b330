#include "msl/entry_points.hpp"

#include "msl/inputs.hpp"

namespace kfp::msl {
namespace {

class EntryPoint {
public:
    EntryPoint(const Program& program, const Kernel& kernel, std::size_t number, const CompileOptions& options)
        : program_(program), kernel_(kernel), number_(std::to_string(number)), options_(options) {}

    // One of the two: optimising a kernel's body twice would double the time that compiling takes.
    std::vector<std::string> lines() const {
        return kernel_.synchronises || options_.checked || options_.check_only ? for_a_thread() : for_a_threadgroup();
    }

private:
    static constexpr const char* function_pointers = "#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable";
    static constexpr const char* head = "extern \"C\" __attribute__((visibility(\"default\"))) void ";
    static constexpr const char* place =
        "[[maybe_unused]] const ::__kfp::thread_place __kfp_p{__kfp_l, __kfp_x, __kfp_y, __kfp_z};";

    std::vector<std::string> for_a_thread() const {
        return {function_pointers,
                head + std::string("__kfp_thread_").append(number_) +
                    "(const __private kfp_launch* __kfp_in, uint __kfp_x, uint __kfp_y, uint __kfp_z) {",
                launch(),
                place,
                held_arguments(),
                call(),
                "}"};
    }

    std::vector<std::string> for_a_threadgroup() const {
        return {function_pointers,
                head + std::string("__kfp_group_").append(number_) + "(const __private kfp_launch* __kfp_in) {",
                launch(),
                held_arguments(),
                "for (uint __kfp_z = 0; __kfp_z < __kfp_l.threads_per_threadgroup[2]; ++__kfp_z)",
                "for (uint __kfp_y = 0; __kfp_y < __kfp_l.threads_per_threadgroup[1]; ++__kfp_y)",
                "#pragma clang loop vectorize(assume_safety)",
                "for (uint __kfp_x = 0; __kfp_x < __kfp_l.threads_per_threadgroup[0]; ++__kfp_x) {",
                place,
                call(),
                "}}"};
    }

    std::string launch() const {
        return "typedef ::__kfp::signature<decltype(" + kernel_.callee +
               ")> __kfp_s [[maybe_unused]]; const kfp_launch __kfp_l = *__kfp_in;";
    }

    // Read once, before the threads run; the checked mode watches every access instead.
    bool is_held(std::size_t p) const {
        const Range range = kernel_.parameter_ranges[p];
        bool in_constant_memory = false;
        bool by_reference = false;
        for (Index i = range.begin; i < range.end; ++i) {
            in_constant_memory = in_constant_memory || program_.is(i, "constant");
            by_reference = by_reference || program_.is(i, "&");
        }
        return kernel_.info.parameters[p].kind == ParameterKind::buffer && in_constant_memory && by_reference && !options_.checked;
    }

    static std::string parameter(std::size_t p) {
        return std::string("__kfp_s::template parameter<").append(std::to_string(p)).append(">::");
    }

    std::string held_arguments() const {
        std::string text;
        for (std::size_t p = 0; p < kernel_.info.parameters.size(); ++p) {
            if (is_held(p)) {
                text.append("const typename ").append(parameter(p)).append("held __kfp_h").append(std::to_string(p));
                text.append("(__kfp_l.buffers[").append(std::to_string(kernel_.info.parameters[p].index)).append("]); ");
            }
        }
        return text;
    }

    std::string argument(std::size_t p) const {
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

    std::string call() const {
        std::string text = kernel_.callee + "(";
        for (std::size_t p = 0; p < kernel_.info.parameters.size(); ++p) {
            text.append(argument(p)).append(", ");
        }
        return text.append("__kfp_l.threadgroup_memory);");
    }

    const Program& program_;
    const Kernel& kernel_;
    const std::string number_;
    const CompileOptions& options_;
};

}  // namespace

std::vector<std::string> entry_point(const Program& program, const Kernel& kernel, std::size_t number, const CompileOptions& options) {
    return EntryPoint(program, kernel, number, options).lines();
}

}  // namespace kfp::msl
