//# refuse a name of ours @ 1: use of undeclared identifier
kernel void f(device float* o) { o[0] = __kfp_runtime; }
//# refuse a builtin that reaches the host @ 1: use of undeclared identifier
kernel void f(device float* o) { o[0] = (float)(ulong)__builtin_return_address(0); }
//# refuse an attribute that reaches the linker @ 1: is not supported in Metal
__attribute__((constructor)) void g() {}
//# refuse a section @ 1: is not supported in Metal
__attribute__((used, section("x"))) constant int k = 1;
//# refuse an alias @ 1: is not supported in Metal
void g() __attribute__((alias("f")));
//# accept attributes without effect on the host
struct __attribute__((packed)) P { uchar a; float b; };
static inline __attribute__((always_inline, const)) float g(float x) { return x; }
__attribute__((noinline)) float h(float x) { return x + sizeof(P); }
kernel void f(device float* o) { float a __attribute__((aligned(16))) = 1; o[0] = g(a) + h(a); }
//# accept harmless builtins
kernel void f(device uint* o, uint i [[thread_position_in_grid]]) { o[i] = __builtin_clz(o[0] | 1) + __builtin_popcount(o[1]) + (__builtin_expect(i > 3, 0) ? 1 : 2); }
//# refuse an undefined function
float g(float x);
kernel void f(device float* o) { o[0] = g(1); }
