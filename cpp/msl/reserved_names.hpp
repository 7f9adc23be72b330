// Names that clang predeclares in C++ for OpenCL but that are plain identifiers in MSL. In user code they get the prefix;
// where MSL has the name too (atomic_uint), the prelude declares the prefixed one. Names that begin with two underscores
// are not listed, nor `private`, which stays an access specifier.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace kfp::msl {

inline constexpr std::string_view reserved_prefix = "__kfp_id_";

inline constexpr std::array<std::string_view, 74> reserved_names = {
    "addrspace_cast",
    "atomic_double",
    "atomic_flag",
    "atomic_float",
    "atomic_half",
    "atomic_int",
    "atomic_intptr_t",
    "atomic_long",
    "atomic_ptrdiff_t",
    "atomic_size_t",
    "atomic_uint",
    "atomic_uintptr_t",
    "atomic_ulong",
    "clk_event_t",
    "commit_read_pipe",
    "commit_write_pipe",
    "enqueue_kernel",
    "event_t",
    "generic",
    "get_kernel_max_sub_group_size_for_ndrange",
    "get_kernel_preferred_work_group_size_multiple",
    "get_kernel_sub_group_count_for_ndrange",
    "get_kernel_work_group_size",
    "get_pipe_max_packets",
    "get_pipe_num_packets",
    "global",
    "image1d_array_t",
    "image1d_buffer_t",
    "image1d_t",
    "image2d_array_depth_t",
    "image2d_array_msaa_depth_t",
    "image2d_array_msaa_t",
    "image2d_array_t",
    "image2d_depth_t",
    "image2d_msaa_depth_t",
    "image2d_msaa_t",
    "image2d_t",
    "image3d_t",
    "intel_sub_group_avc_ime_dual_reference_streamin_t",
    "intel_sub_group_avc_ime_payload_t",
    "intel_sub_group_avc_ime_result_dual_reference_streamout_t",
    "intel_sub_group_avc_ime_result_single_reference_streamout_t",
    "intel_sub_group_avc_ime_result_t",
    "intel_sub_group_avc_ime_single_reference_streamin_t",
    "intel_sub_group_avc_mce_payload_t",
    "intel_sub_group_avc_mce_result_t",
    "intel_sub_group_avc_ref_payload_t",
    "intel_sub_group_avc_ref_result_t",
    "intel_sub_group_avc_sic_payload_t",
    "intel_sub_group_avc_sic_result_t",
    "local",
    "pipe",
    "queue_t",
    "read_only",
    "read_pipe",
    "read_write",
    "reserve_id_t",
    "reserve_read_pipe",
    "reserve_write_pipe",
    "sampler_t",
    "sub_group_commit_read_pipe",
    "sub_group_commit_write_pipe",
    "sub_group_reserve_read_pipe",
    "sub_group_reserve_write_pipe",
    "to_global",
    "to_local",
    "to_private",
    "vec_step",
    "work_group_commit_read_pipe",
    "work_group_commit_write_pipe",
    "work_group_reserve_read_pipe",
    "work_group_reserve_write_pipe",
    "write_only",
    "write_pipe",
};
static_assert(std::is_sorted(reserved_names.begin(), reserved_names.end()));

constexpr bool is_reserved_name(std::string_view name) {
    return std::binary_search(reserved_names.begin(), reserved_names.end(), name);
}

}  // namespace kfp::msl
