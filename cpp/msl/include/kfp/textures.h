// What this device has no hardware for. The names exist, so that a kernel that uses them is told why it is refused.
#ifndef KFP_TEXTURES_H
#define KFP_TEXTURES_H

#include "array.h"

#define KFP_UNSUPPORTED(what) struct __attribute__((unavailable(what " are not supported on this device")))

namespace metal {

enum class access { sample, read, write, __kfp_id_read_write };

#define KFP_TEXTURE(name) template <class T, access mode = access::sample> KFP_UNSUPPORTED("textures") name {};
KFP_TEXTURE(texture1d)
KFP_TEXTURE(texture1d_array)
KFP_TEXTURE(texture2d)
KFP_TEXTURE(texture2d_array)
KFP_TEXTURE(texture2d_ms)
KFP_TEXTURE(texture2d_ms_array)
KFP_TEXTURE(texture3d)
KFP_TEXTURE(texturecube)
KFP_TEXTURE(texturecube_array)
KFP_TEXTURE(texture_buffer)
KFP_TEXTURE(depth2d)
KFP_TEXTURE(depth2d_array)
KFP_TEXTURE(depth2d_ms)
KFP_TEXTURE(depth2d_ms_array)
KFP_TEXTURE(depthcube)
KFP_TEXTURE(depthcube_array)
#undef KFP_TEXTURE

enum class coord { normalized, pixel };
enum class address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class s_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class t_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class r_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class filter { nearest, linear, bicubic };
enum class mag_filter { nearest, linear, bicubic };
enum class min_filter { nearest, linear, bicubic };
enum class mip_filter { none, nearest, linear };
enum class compare_func { none, never, less, less_equal, greater, greater_equal, equal, not_equal, always };

KFP_UNSUPPORTED("samplers") sampler {
    template <class... A> constexpr sampler(A...) {}
};

template <class... A> KFP_UNSUPPORTED("visible functions") visible_function_table {};
template <class... A> KFP_UNSUPPORTED("visible functions") intersection_function_table {};
template <class... A> KFP_UNSUPPORTED("imageblocks") imageblock {};
template <class... A> KFP_UNSUPPORTED("tensors") tensor {};
KFP_UNSUPPORTED("indirect command buffers") command_buffer {};
KFP_UNSUPPORTED("indirect command buffers") render_command {};
KFP_UNSUPPORTED("indirect command buffers") compute_command {};

namespace raytracing {
#define KFP_RAY_TRACING KFP_UNSUPPORTED("ray tracing functions")
template <class... A> KFP_RAY_TRACING acceleration_structure {};
template <class... A> KFP_RAY_TRACING intersector {};
template <class... A> KFP_RAY_TRACING intersection_query {};
template <class... A> KFP_RAY_TRACING intersection_result {};
template <class... A> KFP_RAY_TRACING intersection_function_table {};
KFP_RAY_TRACING primitive_acceleration_structure {};
KFP_RAY_TRACING instance_acceleration_structure {};
KFP_RAY_TRACING ray {};
KFP_RAY_TRACING instancing {};
KFP_RAY_TRACING triangle_data {};
KFP_RAY_TRACING world_space_data {};
#undef KFP_RAY_TRACING
}  // namespace raytracing

}  // namespace metal

#undef KFP_UNSUPPORTED

#endif
