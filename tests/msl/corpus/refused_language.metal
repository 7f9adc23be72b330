//# refuse a lambda @ 1: lambda expressions are not supported in Metal
kernel void f(device float* o) { auto g = [](float x) { return x * 2; }; o[0] = g(o[0]); }
//# refuse a lambda with captures @ 2: lambda expressions are not supported in Metal
kernel void f(device float* o) {
    auto g = [&](uint i) -> float { return o[i]; };
    o[0] = g(1);
}
//# refuse a lambda as an argument @ 2: lambda expressions are not supported in Metal
template <typename F> float apply(F g) { return g(1.0f); }
kernel void f(device float* o) { o[0] = apply([=](float x) { return x; }); }
//# accept subscripts that look like captures
kernel void f(device float* o, uint i [[thread_position_in_grid]]) { float a[2] = {1, 2}; o[(i)] = a[i & 1] + (a)[0]; int b[3] = {[0] = 1, [2] = 3}; o[1] = b[2]; }
//# refuse double @ 1: 'double' is not supported in Metal
kernel void f(device float* o) { double x = 1.0; o[0] = x; }
//# refuse double in a cast @ 1: 'double' is not supported in Metal
kernel void f(device float* o) { o[0] = float(double(1) / 3); }
//# accept unsuffixed literals as float
kernel void f(device float* o, device half* h) { o[0] = 1.0 / 3.0 + 2.5e-3; h[0] = h[1] * 0.5h + 1.5H; float2 v = float2(1.0, 2.0) * 0.5; o[1] = v.x; o[2] = max(o[3], 0.0); }
//# refuse new @ 1
kernel void f(device float* o) { auto p = new float[4]; o[0] = p[0]; }
//# refuse virtual functions @ 1
struct S { virtual float g() { return 1; } };
kernel void f(device float* o) { S s; o[0] = s.g(); }
//# refuse exceptions @ 1
kernel void f(device float* o) { try { o[0] = 1; } catch (...) { } }
//# refuse throw @ 1
kernel void f(device float* o) { if (o[0] > 1) throw 1; }
//# refuse dynamic_cast and typeid @ 2
struct A { int x; };
kernel void f(device float* o) { o[0] = typeid(A).hash_code(); }
//# refuse thread_local @ 1
kernel void f(device float* o) { thread_local int x = 1; o[0] = x; }
//# refuse an undeclared identifier @ 1: use of undeclared identifier 'threadIdx'
kernel void f(device float* o) { o[threadIdx.x] = 1; }
//# refuse an OpenCL builtin @ 1: use of undeclared identifier 'get_global_id'
kernel void f(device float* o) { o[get_global_id(0)] = 1; }
//# refuse an OpenCL barrier @ 1
kernel void f(device float* o) { barrier(CLK_LOCAL_MEM_FENCE); o[0] = 1; }
//# refuse CUDA's syncthreads @ 1: use of undeclared identifier '__syncthreads'
kernel void f(device float* o) { __syncthreads(); o[0] = 1; }
//# refuse half as a variable name @ 1
kernel void f(device float* o, constant uint& n) { uint half = n / 2; o[half] = 1; }
//# refuse kernel as a variable name @ 1
kernel void f(device float* o) { float kernel = 1; o[0] = kernel; }
//# refuse thread as a variable name @ 1
kernel void f(device float* o) { uint thread = 1; o[thread] = 1; }
//# accept OpenCL's words as names
kernel void f(device float* o) { float local = 1, global = 2, generic = 3; int pipe = 4; uint event_t = 1; o[event_t] = local + global + generic + pipe; }
//# refuse a vector of another width @ 1
kernel void f(device float4* o, device float3* p) { o[0] = p[0]; }
//# refuse vectors of different widths added @ 1
kernel void f(device float4* o) { float2 a = o[0].xy; o[1] = o[0] + a; }
//# refuse a missing semicolon @ 2: expected ';'
kernel void f(device float* o) {
    float x = 1
    o[0] = x;
}
//# refuse an open brace @ 3
kernel void f(device float* o) {
    if (o[0] > 0) {
    o[0] = 1;
//# refuse a call of something that is no function @ 1
kernel void f(device float* o) { o[0] = notthere(o[0]); }
//# refuse too many arguments @ 2
float g(float x) { return x; }
kernel void f(device float* o) { o[0] = g(1, 2); }
//# refuse ambiguous max of int and uint @ 1
kernel void f(device uint* o, uint i [[thread_position_in_grid]]) { o[i] = max(i, 1); }
//# refuse printf @ 1
kernel void f(device float* o) { printf("%f", o[0]); }
//# refuse inline assembly @ 1
kernel void f(device float* o) { asm volatile("nop"); o[0] = 1; }
//# refuse std @ 1
kernel void f(device float* o) { o[0] = std::max(o[0], o[1]); }
//# refuse an unknown type @ 1: unknown type name 'float5'
kernel void f(device float* o) { float5 x; o[0] = 1; }
//# refuse a vertex function @ 1: not supported on this device
vertex float4 v(uint i [[vertex_id]]) { return float4(i); }
//# refuse simd_shuffle of 64 bits @ 1: simd_shuffle
kernel void f(device ulong* o, uint i [[thread_position_in_grid]]) { o[i] = simd_shuffle(o[i], ushort(0)); }
//# refuse simd_sum of 64 bits @ 1: simd_sum
kernel void f(device long* o, uint i [[thread_position_in_grid]]) { o[i] = simd_sum(o[i]); }
//# refuse a non-constant initialiser at program scope @ 2
float g() { return 2.0f; }
constant float k = g();
kernel void f(device float* o) { o[0] = k; }
//# refuse deduced arguments of a class template @ 2: use of class template 'S' requires template arguments
template <typename T> struct S { T v; S(T x) : v(x) {} };
kernel void f(device uint* o) { S s(3u); o[0] = s.v; }
//# refuse deduced arguments of the library's class templates @ 1: use of class template 'array' requires template arguments
kernel void f(device uint* o) { array a = {1u, 2u}; o[0] = a[0]; }
//# refuse a template parameter of any type @ 1: 'auto' not allowed in template parameter until C++17
template <typename T, auto N> T g() { return N; }
kernel void f(device uint* o) { o[0] = g<uint, 4u>(); }
