//# accept constants at program scope
constant float kPi = 3.14159f;
constant constexpr uint kN = 4 * 2;
constexpr constant int kM[2] = {1, 2};
static constant float2 kV[] = {float2(1, 2), float2(3)};
const constant half kH = 0.5h;
namespace n { constant float k = 1; }
constant struct { int a, b; } kS = {1, 2};
kernel void f(device float* o) { int a[kN]; a[0] = kM[1]; o[0] = kPi + kV[1].x + kH + n::k + kS.b + a[0]; }
//# refuse constexpr at program scope @ 1: program scope variable must reside in constant address space
constexpr int N = 4;
kernel void f(device float* o) { o[0] = N; }
//# refuse const at program scope @ 1: program scope variable must reside in constant address space
const float kPi = 3.14f;
kernel void f(device float* o) { o[0] = kPi; }
//# refuse static const arrays at program scope @ 1: program scope variable must reside in constant address space
static const float kTable[3] = {1, 2, 3};
kernel void f(device float* o) { o[0] = kTable[1]; }
//# refuse a plain variable at program scope @ 1: program scope variable must reside in constant address space
float counter;
kernel void f(device float* o) { o[0] = counter; }
//# refuse a device variable at program scope @ 1: program scope variable must reside in constant address space
device float* buffer_of_mine;
kernel void f(device float* o) { o[0] = 1; }
//# refuse a threadgroup variable at program scope @ 1: program scope variable must reside in constant address space
threadgroup float shared[32];
kernel void f(device float* o) { o[0] = shared[0]; }
//# refuse a variable in a namespace @ 1: program scope variable must reside in constant address space
namespace n { constexpr int k = 3; }
kernel void f(device float* o) { o[0] = n::k; }
//# refuse a static member outside constant @ 1: program scope variable must reside in constant address space
struct S { static constexpr int k = 3; };
kernel void f(device float* o) { o[0] = S::k; }
//# accept a static member in constant
struct S { static constant constexpr int k = 3; static constexpr constant float w = 2.0f; };
kernel void f(device float* o) { o[0] = S::k + S::w; }
//# refuse a static local @ 1: must reside in constant address space
kernel void f(device int* o) { static int calls = 0; o[0] = ++calls; }
//# refuse a static constexpr local @ 2: must reside in constant address space
kernel void f(device int* o) {
    static constexpr int k = 3;
    o[0] = k;
}
//# accept constexpr and const locals
kernel void f(device float* o) { constexpr int n = 3; const float a[n] = {1, 2, 3}; constexpr float b[2] = {1, 2}; o[0] = a[1] + b[1]; }
//# accept constant locals
kernel void f(device float* o, uint i [[thread_position_in_grid]]) { constant float t[2] = {1.0f, 2.0f}; o[i] = t[i & 1]; }
//# accept threadgroup variables in nested blocks
kernel void f(device float* o, uint i [[thread_position_in_threadgroup]]) {
    if (o[0] > 0) {
        threadgroup float a[32], b;
        a[i] = o[i];
        b = 1;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        { threadgroup int2 c[4][8]; c[1][i & 7] = int2(1); o[i] = a[31 - i] + b + c[1][0].x; }
    }
    for (int k = 0; k < 2; ++k) { threadgroup float d[16]; d[i & 15] = k; o[i] += d[0]; }
}
//# accept threadgroup structs, arrays and atomics
struct Tile { float4 v[8]; uint n; };
kernel void f(device float* o, uint i [[thread_position_in_threadgroup]]) {
    threadgroup Tile tile;
    threadgroup atomic_uint count;
    threadgroup array<float, 8> list;
    threadgroup half4 h[2];
    alignas(16) threadgroup uchar bytes[64];
    threadgroup Tile* p = &tile;
    p->v[i & 7] = float4(1);
    list[i & 7] = 2;
    h[0].x = 1.0h;
    bytes[i] = 1;
    if (i == 0) atomic_store_explicit(&count, 0u, memory_order_relaxed);
    o[i] = p->v[0].x + list[0] + float(h[0].x) + bytes[0];
}
//# refuse a threadgroup variable outside a kernel @ 1: threadgroup address space
float helper(uint i) { threadgroup float s[32]; s[i] = 1; return s[0]; }
kernel void f(device float* o, uint i [[thread_position_in_grid]]) { o[i] = helper(i); }
//# refuse an initialised threadgroup variable @ 1: cannot have an initializer
kernel void f(device float* o, uint i [[thread_position_in_grid]]) { threadgroup float s = 0.0f; o[i] = s; }
//# no pipeline too much threadgroup memory: Threadgroup memory size (33792) exceeds the maximum threadgroup memory allowed (32768)
kernel void f(device float* o, uint i [[thread_position_in_threadgroup]]) { threadgroup float s[8448]; s[i] = o[i]; o[i] = s[0]; }
//# no pipeline too much threadgroup memory in two variables: exceeds the maximum threadgroup memory allowed (32768)
kernel void f(device float* o, uint i [[thread_position_in_threadgroup]]) {
    threadgroup float s[4096];
    if (i > 3) { threadgroup float4 t[1025]; t[i] = o[i]; s[i] = t[0].x; }
    o[i] = s[0];
}
//# accept exactly all threadgroup memory
kernel void f(device float* o, uint i [[thread_position_in_threadgroup]]) { threadgroup float4 s[2048]; s[i] = o[i]; o[i] = s[0].x; }
//# accept function constants with defaults
constant int N [[function_constant(0)]];
constant bool flag [[function_constant(1)]];
constant int n = is_function_constant_defined(N) ? N : 5;
constant bool on = is_function_constant_defined(flag) ? flag : false;
kernel void f(device int* o) { o[0] = n + int(on); }
//# refuse a function constant as an array bound @ 2
constant int N [[function_constant(0)]];
kernel void f(device int* o) { int a[N]; a[0] = 1; o[0] = a[0]; }
//# refuse writing to constant memory @ 1
kernel void f(constant float* c, device float* o) { c[0] = o[0]; }
//# refuse a variable-length array @ 1
kernel void f(device float* o, constant uint& n) { float a[n]; a[0] = 1; o[0] = a[0]; }
