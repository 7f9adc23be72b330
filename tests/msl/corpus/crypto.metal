//# accept constructors that name address spaces
struct G { ulong v; G() thread = default; G() device = default; G() threadgroup = default; G(ulong x) thread : v(x) {} G(ulong x) constant : v(x) {} G operator+(G o) const { return G(v + o.v); } };
kernel void f(device ulong* o, constant G& c) { G a(1), b = c, d; d = a + b + G(2) + 3ul; o[0] = d.v; threadgroup G s; s = d; }
//# accept operators defined outside of the struct
struct G { ulong v; thread G& operator*=(G o); G operator-() const; bool operator==(G o) const; };
inline thread G& G::operator*=(G o) { v *= o.v; return *this; }
inline G G::operator-() const { return G{0 - v}; }
bool G::operator==(G o) const { return v == o.v; }
kernel void f(device ulong* o) { G a{1}, b{2}; a *= b; o[0] = (-a).v + (a == b); }
//# accept a function declared inline and defined without it
inline ulong mul(ulong a, ulong b); ulong half_of(ulong a);
ulong mul(ulong a, ulong b) { return a * b; }
inline ulong half_of(ulong a) { return a >> 1; }
kernel void f(device ulong* o) { o[0] = mul(o[1], half_of(o[2])); }
//# accept an attribute behind a threadgroup variable
kernel void f(device uint4* o, uint t [[thread_index_in_threadgroup]]) { threadgroup uchar raw[256] __attribute__((aligned(16))); threadgroup uint4* v = (threadgroup uint4*)raw; v[t & 15] = uint4(t); threadgroup_barrier(mem_flags::mem_threadgroup); o[t] = v[15 - (t & 15)]; }
//# accept an unused parameter marked so
kernel void f(device uint* o, uint i [[thread_position_in_grid]], [[maybe_unused]] uint t [[thread_index_in_threadgroup]]) { o[i] = 1; }
//# accept references into device objects from their methods
struct L { ulong v[4]; device ulong& at(uint i) device { return v[i]; } const device ulong& at(uint i) const device { return v[i]; } constant ulong& at(uint i) const constant { return v[i]; } thread ulong& at(uint i) thread { return v[i]; } device ulong* data() device { return v; } device L& self() device { return *this; } };
kernel void f(device L* l, constant L& c, uint i [[thread_position_in_grid]]) { L x = l[i]; x.at(0) = c.at(1); device ulong& r = l[i].at(2); r = x.at(0); device ulong* p = l[i].data(); p[3] = l[i].self().at(1); l[i].at(0) += 1; }
//# refuse a thread method on a device object @ 2: no matching member function for call to 'get'
struct S { ulong v[6]; ulong get(uint i) const { return v[i]; } };
kernel void f(device S* s, device ulong* o) { o[0] = s[0].get(1); }
//# refuse a thread operator on a device object @ 2: no viable overloaded operator '[]'
struct S { ulong v[6]; ulong operator[](uint i) const { return v[i]; } };
kernel void f(device S* s, device ulong* o) { o[0] = s[0][1]; }
//# refuse a device pointer as a thread one @ 1: cannot initialize a variable of type 'thread ulong *' (aka 'thread unsigned long *') with an lvalue of type 'device ulong *' (aka 'device unsigned long *')
kernel void f(device ulong* o) { thread ulong* p = o; *p = 1; }
//# refuse a wider vector @ 1: no viable conversion from 'device float4' to 'float3'
kernel void f(device float4* o) { float3 v = o[0]; o[1].xyz = v; }
//# accept lists shorter than their vectors
constant float4 k = {1}; constant uint2 m{3}; static_assert(uint4{7}.y == 0 && uint4{7, 8}.z == 0 && float3{1, 2}.x == 1, "zeros follow");
struct S { float4 v = {2}; uint3 w{1, 2}; };
kernel void f(device float4* o, constant float& x, uint i [[thread_position_in_grid]]) { float4 a = {x}, b{x, 2}, c = {a}, d = float4{x} + 1, e = {1, 2, 3, 4}; const uint2 h = {i}; S s; o[0] = a + b + c + d + e + k + s.v + h.x + m.y; float4 z = {}; float4 y[2] = {{1, 2, 3, 4}, z}; o[1] = y[1]; }
//# refuse a struct's flat list with a vector member @ 2: excess elements in struct initializer
struct A { float3 v; float w; };
kernel void f(device float* o) { A a = {1, 2, 3, 4}; o[0] = a.w; }
//# accept constant and device overloads of one function
inline ulong pick(constant ulong* t, uint i) { return t[i]; }
inline ulong pick(device const ulong* t, uint i) { return t[i]; }
template <typename P> inline ulong any_of(P p) { return p[0]; } inline ulong any_of(constant ulong& x, uint) { return x; }
template <uint N> inline ulong fixed(constant ulong (&t)[N]) { return t[N - 1]; }
struct F { static ulong load(constant ulong* p, uint n = 1) { return p[n]; } ulong v; };
constant ulong table[3] = {1, 2, 3};
kernel void f(device ulong* o, constant ulong* c) { o[0] = pick(c, 1) + pick(o, 1) + any_of(o) + any_of(c) + any_of(c[1], 2) + fixed(table) + F::load(c) + F::load(table, 2); }
//# refuse device memory for a constant pointer @ 2: no matching function for call to 'h'
inline ulong h(constant ulong* p, uint n) { return p[n]; }
kernel void f(device ulong* o, device const ulong* q) { o[0] = h(q, 1); }
//# refuse device memory for a constant reference @ 2: no matching function for call to 'h'
inline ulong h(thread ulong* r, const constant ulong& p) { return p + *r; }
kernel void f(device ulong* o) { ulong x = 1; o[0] = h(&x, o[1]); }
//# refuse device memory for a constant pointer of a template @ 2: no matching function for call to 'h'
template <typename T, uint N> inline T h(constant T* p) { T r = 0; for (uint i = 0; i < N; ++i) r += p[i]; return r; }
kernel void f(device ulong* o) { o[0] = h<ulong, 3>(o); }
//# refuse device memory for a constant pointer of a static method @ 2: no matching function for call to 'load'
struct F { ulong v; static F load(constant ulong* p) { return {p[0]}; } };
kernel void f(device ulong* o) { o[0] = F::load(o).v; }
//# refuse goto @ 1: 'goto' is not supported in Metal
kernel void f(device ulong* o, uint i [[thread_position_in_grid]]) { if (i > 5) goto out; o[i] = 1; out: return; }
//# refuse a label @ 2: labeled statements are not supported in Metal
kernel void f(device ulong* o, uint i [[thread_position_in_grid]]) {
    outer: for (uint j = 0; j < i; ++j) { o[j] = 1; }
}
//# refuse long long @ 1: 'long long' is not supported in Metal
typedef unsigned long long u64;
kernel void f(device u64* o) { o[0] = 1; }
//# refuse a 128-bit integer @ 1: use of undeclared identifier '__uint128_t'
kernel void f(device ulong* o) { o[0] = (ulong)(((__uint128_t)o[1] * o[2]) >> 64); }
//# no pipeline a function constant without a value: function constant 'W' at index 3 has no value
constant uint W [[function_constant(3)]]; constant uint mask = (1u << W) - 1u;
inline uint digit(uint x) { return x & mask; }
kernel void f(device uint* o) { o[0] = digit(o[1]); }
//# accept a function constant that no kernel uses, or that is asked for
constant uint W [[function_constant(0)]]; constant uint V [[function_constant(1)]]; constant bool has_v = is_function_constant_defined(V); constant uint v = has_v ? V : 8;
kernel void f(device uint* o) { o[0] = v; }
//# accept variables made of function constants
constant uint W [[function_constant(0)]]; constant bool has_w = is_function_constant_defined(W); constant uint w = has_w ? W : 8; namespace n { constant uint size = 1u << w; constexpr constant ulong mask = (1ul << w) - 1ul; constant uint table[2] = {w, n::size}; }
kernel void f(device ulong* o) { o[0] = n::size + n::mask + n::table[1]; }
//# accept conditionals that give references
struct S { ulong v[2]; };
inline const thread S& least(const thread S& a, const thread S& b) { return a.v[0] < b.v[0] ? a : b; }
inline thread ulong& one(thread S& s, bool second) { return second ? s.v[1] : s.v[0]; }
kernel void f(device ulong* o, device S* d) { S a = d[0], b = d[1]; one(a, true) = 3; thread S& r = o[0] > 1 ? a : b; r.v[0] = 1; device S& e = o[1] ? d[2] : d[3]; e.v[1] = least(a, b).v[0]; S c = o[2] ? a : d[4]; d[5] = c; }
