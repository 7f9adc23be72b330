#include <algorithm>
#include <array>
#include <set>

#include "msl/preprocessor.hpp"
#include "msl/rules.hpp"

namespace kfp::msl {
namespace {

const std::set<std::string_view>& permitted_gnu_attributes() {
    static const std::set<std::string_view> names{
        "aligned", "packed", "always_inline", "noinline", "unused", "const", "pure", "deprecated", "ext_vector_type", "vector_size",
        "flatten", "hot", "cold", "noreturn", "nothrow", "may_alias", "warn_unused_result", "fallthrough", "maybe_unused", "nodiscard",
        "opencl_unroll_hint", "nonnull", "returns_nonnull", "gnu_inline"};
    return names;
}

std::string_view trimmed(std::string_view name) {
    if (name.size() > 4 && name.substr(0, 2) == "__" && name.substr(name.size() - 2) == "__") {
        return name.substr(2, name.size() - 4);
    }
    return name;
}

class Checker {
public:
    Checker(const Program& program, Diagnostics& diagnostics) : program_(program), diagnostics_(diagnostics) {}

    void run() {
        const Index end = static_cast<Index>(program_.stream.tokens.size());
        for (Index i = 0; i < end; ++i) {
            if (program_.token(i).is_identifier()) {
                check_identifier(i);
            }
        }
    }

private:
    void error(Index i, std::string message) { diagnostics_.error(program_.stream, program_.token(i), std::move(message)); }

    void check_identifier(Index i) {
        const std::string& name = program_.token(i).text;
        const auto begins = [&](std::string_view prefix) { return name.compare(0, prefix.size(), prefix) == 0; };
        if (name == "asm" || name == "__asm" || name == "__asm__") {
            error(i, "inline assembly is not supported in Metal");
        } else if (name == "__attribute__" || name == "__attribute") {
            check_attribute(i);
        } else if (begins("__builtin_") || begins("__sync_") || begins("__atomic_") || begins("__c11_atomic") || begins("__opencl_atomic") ||
                   begins("__scoped_atomic") || begins("__hip_atomic")) {
            if (!is_permitted_builtin(name)) {
                error(i, "use of undeclared identifier '" + name + "'");
            }
        } else if (begins("__kfp") || begins("KFP_") || begins("kfp_") || begins("__has_") || begins("__is_identifier") ||
                   begins("__opencl_") || begins("__cl_") || begins("cl_khr_") || begins("__va_") || begins("__global") ||
                   is_forbidden_keyword(name)) {
            error(i, "use of undeclared identifier '" + name + "'");
        }
    }

    static bool is_forbidden_keyword(std::string_view name) {
        static const std::set<std::string_view> names{
            "__declspec", "__pragma", "__local", "__constant", "__private", "__generic", "__kernel", "__read_only", "__write_only",
            "__read_write", "_Float16", "__float128", "__bf16", "__int128", "__int128_t", "__uint128_t", "_BitInt", "_ExtInt", "__building_module", "__MODULE__",
            "__auto_type", "__thread", "_Thread_local", "_Atomic", "_Generic", "__ptrauth", "__block", "__weak", "__strong", "vec_type_hint",
            "__cdecl", "__stdcall", "_cdecl", "__fastcall", "__vectorcall", "__unaligned", "__uptr", "__sptr", "__ptr32", "__ptr64",
            "addrspace_cast", "__real", "__imag", "_Complex", "_Imaginary", "__func_constant", "__typeof_unqual"};
        return names.count(name) != 0;
    }

    // __attribute__((a, b(…)))
    void check_attribute(Index i) {
        if (!program_.balanced || !program_.is(i + 1, "(") || !program_.is(i + 2, "(")) {
            error(i, "expected '((' after '__attribute__'");
            return;
        }
        for (Index j = i + 3; j < program_.match[i + 2]; ++j) {
            if (program_.is(j, "(")) {
                j = program_.match[j];
            } else if (program_.token(j).is_identifier() && permitted_gnu_attributes().count(trimmed(program_.token(j).text)) == 0) {
                error(j, "attribute '" + program_.token(j).text + "' is not supported in Metal");
            }
        }
    }

    const Program& program_;
    Diagnostics& diagnostics_;
};

}  // namespace

void check_hygiene(const Program& program, Diagnostics& diagnostics) { Checker(program, diagnostics).run(); }

bool is_permitted_builtin(std::string_view name) {
    static const std::set<std::string_view> names{
        "clz", "clzs", "clzl", "clzll", "ctz", "ctzs", "ctzl", "ctzll", "popcount", "popcountl", "popcountll", "parity", "ffs",
        "expect", "unreachable", "assume", "trap", "bswap16", "bswap32", "bswap64", "bitreverse8", "bitreverse16", "bitreverse32",
        "bitreverse64", "rotateleft8", "rotateleft16", "rotateleft32", "rotateleft64", "rotateright8", "rotateright16",
        "rotateright32", "rotateright64", "bit_cast", "convertvector", "shufflevector", "constant_p", "offsetof", "types_compatible_p",
        "add_overflow", "sub_overflow", "mul_overflow", "uadd_overflow", "usub_overflow", "umul_overflow", "uaddl_overflow",
        "usubl_overflow", "umull_overflow", "sadd_overflow", "ssub_overflow", "smul_overflow", "addc", "addcl", "addcll", "subc",
        "subcl", "subcll", "huge_valf", "inff", "nanf", "isnan", "isinf", "isfinite", "memcpy", "memset", "choose_expr",
        "elementwise_abs", "elementwise_max", "elementwise_min", "elementwise_add_sat", "elementwise_sub_sat", "reduce_add",
        "reduce_max", "reduce_min", "nondeterministic_value", "is_constant_evaluated", "popcountg", "clzg", "ctzg"};
    constexpr std::string_view prefix = "__builtin_";
    return name.substr(0, prefix.size()) == prefix && names.count(name.substr(prefix.size())) != 0;
}

bool is_metal_header(std::string_view name) {
    static const std::set<std::string_view> headers{
        "metal_stdlib", "metal_types", "metal_config", "metal_math", "metal_integer", "metal_common", "metal_geometric",
        "metal_graphics", "metal_matrix", "metal_relational", "metal_atomic", "metal_compute", "metal_simdgroup",
        "metal_simdgroup_matrix", "metal_quadgroup", "metal_array", "metal_pack", "metal_texture", "metal_limits",
        "metal_type_traits", "metal_utility", "metal_numeric", "metal_uniform", "metal_raytracing", "metal_tessellation",
        "metal_visible_function_table", "metal_mesh", "metal_interpolate", "metal_logging", "metal_command_buffer",
        "metal_assert", "metal_extended_vector", "metal_packed_vector", "metal_common_functions", "metal_function_constant",
        "simd/simd.h"};
    return headers.count(name) != 0;
}

}  // namespace kfp::msl
