// Spellings of MSL's own types.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kfp::msl {

struct VectorType {
    std::string scalar;
    int components = 1;
};

// float, uint3, packed_half4, uint32_t, …: nullopt for anything that is neither a scalar nor a vector of MSL.
std::optional<VectorType> parse_vector_type(std::string_view name);

// Any non-template type name of the Metal library or the language.
bool is_metal_type(std::string_view name);

// Class templates of the Metal library.
bool is_metal_type_template(std::string_view name);

}  // namespace kfp::msl
