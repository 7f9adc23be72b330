//# accept every input attribute as uint
kernel void f(device uint* o [[buffer(0)]], uint a [[thread_position_in_grid]], uint b [[thread_position_in_threadgroup]],
              uint c [[thread_index_in_threadgroup]], uint d [[threadgroup_position_in_grid]], uint e [[threads_per_threadgroup]],
              uint g [[dispatch_threads_per_threadgroup]], uint h [[threads_per_grid]], uint i [[grid_size]], uint j [[grid_origin]],
              uint k [[threadgroups_per_grid]], uint l [[thread_index_in_simdgroup]], uint m [[simdgroup_index_in_threadgroup]],
              uint n [[simdgroups_per_threadgroup]], uint p [[dispatch_simdgroups_per_threadgroup]], uint q [[threads_per_simdgroup]],
              uint r [[thread_execution_width]], uint s [[thread_index_in_quadgroup]], uint t [[quadgroup_index_in_threadgroup]],
              uint u [[quadgroups_per_threadgroup]], uint v [[dispatch_quadgroups_per_threadgroup]]) {
    o[0] = a + b + c + d + e + g + h + i + j + k + l + m + n + p + q + r + s + t + u + v;
}
//# accept vectors of two with scalars that are always scalar
kernel void f(device uint* o [[buffer(0)]], uint2 a [[thread_position_in_grid]], ushort2 b [[thread_position_in_threadgroup]],
              uint lane [[thread_index_in_simdgroup]], ushort sg [[simdgroup_index_in_threadgroup]], uint idx [[thread_index_in_threadgroup]]) {
    o[a.x + b.y] = lane + sg + idx;
}
//# accept vectors of three
kernel void f(device uint* o [[buffer(0)]], uint3 a [[thread_position_in_grid]], const uint3 b [[threadgroup_position_in_grid]],
              metal::ushort3 c [[threads_per_threadgroup]], vec<uint, 3> d [[threads_per_grid]]) { o[a.z] = b.x + c.y + d.z; }
//# accept an input before the buffers
kernel void f(uint i [[thread_position_in_grid]], device float* o) { o[i] = 1; }
//# accept unsigned spellings
kernel void f(device uint* o, unsigned int i [[thread_position_in_grid]], uint32_t t [[thread_position_in_threadgroup]], unsigned g [[threads_per_grid]]) { o[i] = t + g; }
//# refuse scalar and vector positions mixed @ 1: expecting input declarations with either all scalar types or all vector types with the same number of elements
kernel void f(device uint* o, uint2 a [[thread_position_in_grid]], uint b [[thread_position_in_threadgroup]]) { o[a.x] = b; }
//# refuse vectors of different widths @ 2: expecting input declarations with either all scalar types or all vector types with the same number of elements
kernel void f(device uint* o, uint2 a [[thread_position_in_grid]],
              uint3 b [[threads_per_threadgroup]]) { o[a.x] = b.z; }
//# refuse a signed position @ 1: invalid type 'int'
kernel void f(device int* o, int i [[thread_position_in_grid]]) { o[i] = i; }
//# refuse a position of 64 bits @ 1: invalid type 'ulong'
kernel void f(device int* o, ulong i [[thread_position_in_grid]]) { o[i] = 1; }
//# refuse a position of four components @ 1: invalid type 'uint4'
kernel void f(device int* o, uint4 i [[thread_position_in_grid]]) { o[i.x] = 1; }
//# refuse a vector where only a scalar is allowed @ 1: invalid type 'uint2'
kernel void f(device int* o, uint2 i [[thread_index_in_simdgroup]]) { o[i.x] = 1; }
//# refuse an unknown input attribute @ 1: unknown attribute 'thread_id'
kernel void f(device int* o, uint i [[thread_id]]) { o[i] = 1; }
//# refuse a misspelt input attribute @ 2: unknown attribute 'thread_index_in_threadgoup'
kernel void f(device int* o,
              uint i [[thread_index_in_threadgoup]]) { o[i] = 1; }
//# refuse a value without an attribute @ 1: invalid type 'uint'
kernel void f(device int* o, uint i) { o[i] = 1; }
//# refuse a value in a buffer @ 1: invalid type 'uint' for buffer declaration
kernel void f(device int* o, uint n [[buffer(1)]]) { o[0] = n; }
//# refuse a constant value in a buffer @ 1: invalid type
kernel void f(device int* o, constant uint n [[buffer(1)]]) { o[0] = n; }
//# refuse a kernel that returns something @ 1: kernel must have void return type
kernel float f(device float* o) { return o[0]; }
//# refuse a pointer into thread memory as a buffer @ 1: thread
kernel void f(thread float* o [[buffer(0)]]) { o[0] = 1; }
//# refuse threadgroup memory without pointing into it @ 1: threadgroup
kernel void f(device float* o [[threadgroup(0)]]) { o[0] = 1; }
//# refuse a texture @ 1: not supported on this device
kernel void f(texture2d<float, access::read> t [[texture(0)]], device float* o) { o[0] = 1; }
//# refuse two kernels of one name @ 2: redefinition
kernel void f(device float* o) { o[0] = 1; }
kernel void f(device int* o) { o[0] = 1; }
//# accept references to structs and arrays
struct P { float a; uint2 b; };
kernel void f(constant P& p, device P& q, constant float (&w)[4], constant bool& flag) { q.a = p.a + w[2] + float(flag); }
//# accept no parameters at all
kernel void f() {}
//# accept void as the parameters
kernel void f(void) {}
//# accept a kernel in a namespace
namespace app { namespace inner { kernel void f(device float* o) { o[0] = 1; } } }
//# accept explicit instantiations under host names
template <typename T, uint N> [[kernel]] void f(device T* o [[buffer(0)]], uint i [[thread_position_in_grid]]) { o[i] = T(N); }
template [[host_name("f_float_4")]] [[kernel]] void f<float, 4>(device float*, uint);
template [[host_name("f_int_8")]] [[kernel]] decltype(f<int, 8>) f<int, 8>;
//# accept instantiations through a macro
template <typename T> kernel void scale(device T* o [[buffer(0)]], constant T& k [[buffer(1)]], uint i [[thread_position_in_grid]]) { o[i] *= k; }
#define INSTANTIATE(name, type) template [[host_name(#name "_" #type)]] kernel void name<type>(device type*, constant type&, uint);
INSTANTIATE(scale, float)
INSTANTIATE(scale, half)
INSTANTIATE(scale, int)
