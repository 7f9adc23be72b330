// The compute input attributes of MSL (table "attributes for kernel function input arguments").
#pragma once

#include <array>
#include <string_view>

namespace kfp::msl {

struct InputAttribute {
    std::string_view name;
    bool may_be_vector = false;
    // What launch.h calls it: an expression over `__kfp_l`, `__kfp_x`, `__kfp_y` and `__kfp_z`.
    std::string_view expression;
};

inline constexpr std::array<InputAttribute, 21> input_attributes{{
    {"thread_position_in_grid", true, "position_in_grid"},
    {"thread_position_in_threadgroup", true, "position_in_threadgroup"},
    {"thread_index_in_threadgroup", false, "index_in_threadgroup"},
    {"threadgroup_position_in_grid", true, "threadgroup_position"},
    {"threads_per_threadgroup", true, "threads_per_threadgroup"},
    {"dispatch_threads_per_threadgroup", true, "dispatch_threads_per_threadgroup"},
    {"threads_per_grid", true, "threads_per_grid"},
    {"grid_size", true, "threads_per_grid"},
    {"grid_origin", true, "grid_origin"},
    {"threadgroups_per_grid", true, "threadgroups_per_grid"},
    {"thread_index_in_simdgroup", false, "index_in_simdgroup"},
    {"simdgroup_index_in_threadgroup", false, "simdgroup_index"},
    {"simdgroups_per_threadgroup", false, "simdgroups_per_threadgroup"},
    {"dispatch_simdgroups_per_threadgroup", false, "dispatch_simdgroups_per_threadgroup"},
    {"threads_per_simdgroup", false, "simd_width"},
    {"thread_execution_width", false, "simd_width"},
    {"thread_index_in_quadgroup", false, "index_in_quadgroup"},
    {"quadgroup_index_in_threadgroup", false, "quadgroup_index"},
    {"quadgroups_per_threadgroup", false, "quadgroups_per_threadgroup"},
    {"dispatch_quadgroups_per_threadgroup", false, "dispatch_quadgroups_per_threadgroup"},
    {"threads_per_quadgroup", false, "quad_width"},
}};

constexpr const InputAttribute* find_input_attribute(std::string_view name) {
    for (const InputAttribute& attribute : input_attributes) {
        if (attribute.name == name) {
            return &attribute;
        }
    }
    return nullptr;
}

}  // namespace kfp::msl
