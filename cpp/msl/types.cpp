#include "msl/types.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace kfp::msl {
namespace {

constexpr std::array<std::string_view, 14> scalars{"bool", "char", "uchar", "short", "ushort", "int", "uint",
                                                   "long", "ulong", "half", "float", "bfloat", "void", "double"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> aliases{{{"int8_t", "char"},
                                                                                 {"uint8_t", "uchar"},
                                                                                 {"int16_t", "short"},
                                                                                 {"uint16_t", "ushort"},
                                                                                 {"int32_t", "int"},
                                                                                 {"uint32_t", "uint"},
                                                                                 {"int64_t", "long"},
                                                                                 {"uint64_t", "ulong"},
                                                                                 {"size_t", "ulong"},
                                                                                 {"ptrdiff_t", "long"}}};

bool is_scalar(std::string_view name) { return std::find(scalars.begin(), scalars.end(), name) != scalars.end(); }

}  // namespace

std::optional<VectorType> parse_vector_type(std::string_view name) {
    constexpr std::string_view packed = "packed_";
    const bool is_packed = name.substr(0, packed.size()) == packed;
    if (is_packed) {
        name.remove_prefix(packed.size());
    }
    for (const auto& [alias, meaning] : aliases) {
        if (name == alias) {
            return VectorType{std::string(meaning), 1};
        }
    }
    if (is_scalar(name)) {
        return is_packed ? std::nullopt : std::optional(VectorType{std::string(name), 1});
    }
    if (name.empty() || name.back() < '2' || name.back() > '4' || !is_scalar(name.substr(0, name.size() - 1))) {
        return std::nullopt;
    }
    return VectorType{std::string(name.substr(0, name.size() - 1)), name.back() - '0'};
}

bool is_metal_type(std::string_view name) {
    static constexpr std::array<std::string_view, 14> others{
        "atomic_int", "atomic_uint", "atomic_bool", "atomic_float", "atomic_ulong", "atomic_long", "simdgroup_float8x8",
        "simdgroup_half8x8", "simdgroup_bfloat8x8", "unsigned", "signed", "simd_vote", "intptr_t", "uintptr_t"};
    if (parse_vector_type(name) || std::find(others.begin(), others.end(), name) != others.end()) {
        return true;
    }
    // Matrices: float3x4, half2x2.
    return name.size() > 4 && name[name.size() - 2] == 'x' && parse_vector_type(name.substr(0, name.size() - 2)).has_value();
}

bool is_metal_type_template(std::string_view name) {
    static constexpr std::array<std::string_view, 8> names{"vec", "packed_vec", "matrix", "array", "atomic", "simdgroup_matrix", "_atomic", "array_ref"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace kfp::msl
