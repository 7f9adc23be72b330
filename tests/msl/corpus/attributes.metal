//# accept max threads before the kernel keyword
[[max_total_threads_per_threadgroup(256)]]
kernel void f(device float* o, uint i [[thread_position_in_grid]]) { o[i] = 1; }
//# accept max threads and kernel in one list
[[kernel, max_total_threads_per_threadgroup(64)]] void f(device float* o, uint i [[thread_position_in_grid]]) { o[i] = 1; }
//# accept two attribute lists in front
[[max_total_threads_per_threadgroup(64)]] [[kernel]] void f(device float* o, uint i [[thread_position_in_grid]]) { o[i] = 1; }
//# accept an attribute argument that is a constant expression
#define THREADS 32
constant constexpr uint kGroups = 4;
[[max_total_threads_per_threadgroup(THREADS * kGroups)]] kernel void f(device float* o [[buffer(0)]]) { o[0] = 1; }
//# accept an attribute after the name
kernel void f [[max_total_threads_per_threadgroup(64)]] (device float* o [[buffer(0)]]) { o[0] = 1; }
//# refuse max threads after the parameter list @ 1: 'max_total_threads_per_threadgroup' attribute cannot be applied to types
kernel void f(device float* o [[buffer(0)]]) [[max_total_threads_per_threadgroup(256)]] { o[0] = 1; }
//# refuse max threads between kernel and void @ 1: an attribute list cannot appear here
kernel [[max_total_threads_per_threadgroup(256)]] void f(device float* o [[buffer(0)]]) { o[0] = 1; }
//# refuse max threads between type and name @ 1: cannot be applied to types
kernel void [[max_total_threads_per_threadgroup(256)]] f(device float* o [[buffer(0)]]) { o[0] = 1; }
//# refuse max threads as a statement of its own @ 1: 'max_total_threads_per_threadgroup' attribute
[[max_total_threads_per_threadgroup(256)]];
kernel void f(device float* o [[buffer(0)]]) { o[0] = 1; }
//# refuse max threads as a statement in the body @ 2: cannot be applied to a statement
kernel void f(device float* o [[buffer(0)]]) {
    [[max_total_threads_per_threadgroup(256)]];
    o[0] = 1;
}
//# refuse an attribute list before a template header @ 1: an attribute list cannot appear here
[[kernel]] template <typename T> void f(device T* o [[buffer(0)]]) { o[0] = 1; }
//# no pipeline more threads than the device has: exceeds
[[max_total_threads_per_threadgroup(2048)]] kernel void f(device float* o [[buffer(0)]]) { o[0] = 1; }
//# refuse a buffer attribute on the type @ 1: 'buffer' attribute cannot be applied to types
kernel void f(device float* [[buffer(0)]] o) { o[0] = 1; }
//# refuse a buffer index out of range @ 1: out of bounds
kernel void f(device float* o [[buffer(31)]]) { o[0] = 1; }
//# refuse two parameters in one slot @ 1: at index 2
kernel void f(device float* a [[buffer(2)]], device float* b [[buffer(2)]]) { a[0] = b[0]; }
//# accept buffer and threadgroup of the same index
kernel void f(device float* a [[buffer(0)]], threadgroup float* s [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]]) { s[i] = a[i]; a[i] = s[i]; }
//# accept indices of an enum
enum BufferIndex { kIn = 0, kOut = 3, kCount };
kernel void f(device float* a [[buffer(kIn)]], device float* b [[buffer(kOut)]], device float* c [[buffer(BufferIndex::kCount)]]) { a[0] = b[0] + c[0]; }
//# accept buffers without attributes
kernel void f(device const float* a, device float* b, constant uint& n, uint i [[thread_position_in_grid]]) { if (i < n) b[i] = a[i]; }
//# accept host_name on a plain kernel
[[host_name("other")]] kernel void f(device float* o [[buffer(0)]]) { o[0] = 1; }
//# accept unknown attributes of a function
[[some::thing]] float g(float x) { return x; }
kernel void f(device float* o [[buffer(0)]]) { o[0] = g(o[0]); }
//# accept standard attributes
[[maybe_unused]] static float g(float x) { return x; }
kernel void f(device float* o [[buffer(0)]], constant int& n [[buffer(1)]]) {
    [[maybe_unused]] int unused = 3;
    switch (n) {
        case 0: o[0] = 1; [[fallthrough]];
        default: o[1] = 2;
    }
}

//# accept attributes of functions that get a storage class
[[clang::always_inline]] float once(float v) { return v; }
[[maybe_unused]] static float twice(float v) { return 2.0f * v; }
[[clang::always_inline]] inline float of_all(float v) { return simd_sum(v); }
[[maybe_unused, clang::always_inline]] float of_most(float v) { return simd_max(v); }
kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = once(1) + twice(2) + of_all(3) + of_most(4);
}
