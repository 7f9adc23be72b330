//# accept control flow
kernel void f(device int* o, constant int& n) {
    for (int i = 0, j = 10; i < j; ++i, --j) { if (i == 3) continue; if (j == 5) break; o[i] = j; }
    int k = 0; while (true) { if (++k > n) break; } do { --k; } while (k > 0);
    switch (n) { case 0: case 1: o[0] = 1; break; case 2: { int t = 2; o[0] = t; break; } default: o[0] = 3; }
    o[1] = n > 0 ? 1 : n < 0 ? -1 : 0; for (;;) { break; } if (int x = n) o[2] = x; else o[2] = 1; ;
}
//# accept structs, unions, enums and bit-fields
enum Kind { kA, kB = 5, kC }; enum class Mode : uchar { off, on = 3 };
union U { float f; uint u; uchar b[4]; };
struct Inner { float2 v; int n : 4; uint m : 28; }; struct Outer { Inner in[2]; union { float a; int b; }; struct { float c; } d; Kind k; bool flag = true; };
kernel void f(device float* o) { Outer x = {}; x.in[0].n = 3; x.a = 1; x.d.c = 2; x.k = kC; U u; u.f = 1.0f; o[0] = u.u + u.b[1] + x.b + x.in[0].n; Mode m = Mode::on; o[1] = m == Mode::on ? float(x.k) : float(static_cast<uchar>(m)); Inner l = {float2(1, 2), 3, 4u}; o[2] = l.m + sizeof(Outer); }
//# accept templates
template <typename T, uint N = 4> struct Stack { T v[N]; uint n = 0; void push(T x) { v[n++] = x; } T pop() { return v[--n]; } };
template <uint N> struct Fib { static constant constexpr uint value = Fib<N - 1>::value + Fib<N - 2>::value; };
template <> struct Fib<0> { static constant constexpr uint value = 0; }; template <> struct Fib<1> { static constant constexpr uint value = 1; };
template <typename T> T sum(T a) { return a; }
template <typename T, typename... R> T sum(T a, R... r) { return a + sum(r...); }
template <typename T> struct Traits; template <> struct Traits<float> { typedef uint bits; using type = float; }; template <> struct Traits<half> { typedef ushort bits; using type = half; };
template <bool B> int pick() { if (B) return 1; return 2; }
template <typename T> constexpr T square(T x) { return x * x; }
template <typename T> using Pair = Stack<T, 2>;
template <typename T, typename Op> T fold(const device T* p, uint n, Op op) { T r = p[0]; for (uint i = 1; i < n; ++i) r = op(r, p[i]); return r; }
struct Add { template <typename T> T operator()(T a, T b) const { return a + b; } };
kernel void f(device float* o) { Stack<float> s; s.push(1); s.push(2); Pair<int> p; p.push(3); o[0] = s.pop() + p.pop() + Fib<10>::value + sum(1.0f, 2.0f, 3.0f) + pick<true>(); typename Traits<float>::bits b = 3; o[1] = b + square(3.0f) + square<int>(2); constexpr uint k = square(4u); float a[k]; a[0] = 1; o[2] = a[0] + fold(o, 4, Add()); }
//# accept if constexpr and other later C++
template <typename T> T g(T x) { if constexpr (is_same_v<T, float>) return x * 2; else return x + 1; }
kernel void f(device float* o) { o[0] = g(1.0f) + g(1); if (int k = 3; k > 2) o[1] = k; }
//# accept type traits
template <typename T, typename = enable_if_t<is_integral<T>::value>> T g(T x) { return x; }
static_assert(is_same<float, float>::value && !is_same_v<int, uint> && is_floating_point<half>::value && sizeof(long) == 8, "traits");
kernel void f(device int* o) { conditional_t<true, int, float> x = 3; o[0] = g(x) + numeric_limits<int>::max() + int(numeric_limits<float>::epsilon()); float inf = numeric_limits<float>::infinity(); o[1] = isinf(inf) ? 1 : 0; }
//# accept operator overloading
struct Vec { float x, y; Vec operator+(Vec o) const { return {x + o.x, y + o.y}; } Vec operator-() const { return {-x, -y}; } bool operator==(Vec o) const { return x == o.x && y == o.y; } float operator[](int i) const { return i ? y : x; } float operator()(float t) const { return x + t * y; } explicit operator float() const { return x; } thread Vec& operator+=(Vec o) { x += o.x; y += o.y; return *this; } };
Vec operator*(float s, Vec v) { return {s * v.x, s * v.y}; } thread Vec& operator*=(thread Vec& v, float s) { v.x *= s; v.y *= s; return v; }
kernel void f(device float* o) { Vec a = {1, 2}, b{3, 4}; a += b; a = 2.0f * (a + -b); a *= 3; o[0] = a[0] + a(0.5f) + float(a) + (a == b); }
//# accept overloads and default arguments
float g(float x, float y = 2) { return x * y; } int g(int x) { return x; } float2 g(float2 v) { return v; } half g(half h) { return h; }
inline float area(float w, float h = 1.0f, bool round = false) { return round ? floor(w * h) : w * h; }
kernel void f(device float* o) { o[0] = g(1.0f) + g(3) + g(float2(1)).x + float(g(1.0h)) + area(2) + area(2, 3, true); }
//# accept forward declarations and recursion
float even(int n); float odd(int n) { return n == 0 ? 0 : even(n - 1); } float even(int n) { return n == 0 ? 1 : odd(n - 1); }
struct Later; float take(device Later* p); struct Later { float v; }; float take(device Later* p) { return p->v; }
kernel void f(device float* o, device Later* l) { o[0] = odd(5) + take(l); }
//# accept the names of simd.h bare
#include <metal_stdlib>
#include <simd/simd.h>
kernel void f(device simd_float4* o, constant matrix_float4x4& m, constant vector_float3& v) { simd::float4 a = o[0]; o[1] = m * a + simd_float4(v, simd::float2(1).x); }
//# accept typedefs and aliases
typedef float real; typedef float real3 __attribute__((ext_vector_type(3))); using index_t = uint; typedef device float* dptr; typedef struct Tag { int a; } Tag; using cptr = constant float*; typedef uint word_t, words_t[4];
kernel void f(dptr o, cptr c, index_t i [[thread_position_in_grid]]) { real r = 1; Tag t; t.a = 2; words_t w; w[0] = 1; word_t x = w[0]; o[i] = r + t.a + c[0] + x; }
//# accept namespaces
namespace a { constant float k = 1; namespace b { float g() { return k; } struct S { float v; }; } } namespace { float hidden() { return 2; } } namespace ab = a::b; using a::k;
kernel void f(device float* o) { using namespace a::b; S s = {1}; o[0] = g() + ab::g() + ::a::k + k + hidden() + s.v; }
//# accept inheritance without virtual functions
struct A { float x; float g() const { return x; } }; struct B : A { float y; float h() const { return g() + y; } }; template <typename D> struct Base { float twice() const { return 2 * static_cast<const thread D*>(this)->v; } }; struct D : Base<D> { float v; };
kernel void f(device float* o) { B b; b.x = 1; b.y = 2; D d; d.v = 3; o[0] = b.h() + d.twice(); }
//# accept constructors and member initialisers
struct P { float x; float y; P() : x(0), y(0) {} P(float a) : P(a, a) {} P(float a, float b) : x{a}, y(b) {} P(float2 v) : x(v.x), y(v.y) {} static P zero() { return P(); } float dot(P o) const { return x * o.x + y * o.y; } }; 
kernel void f(device float* o, device P* ps) { P a, b(1), c{1, 2}, d = P(3, 4), e(float2(5, 6)); P arr[2] = {P(1), {2, 3}}; ps[0] = c; a = ps[1]; o[0] = a.dot(b) + d.dot(e) + arr[1].x + P::zero().y; }
//# accept volatile, restrict and const everywhere
kernel void f(device volatile float* a, const device float* const b, device float* __restrict c, device const volatile uint* d) { volatile float x = a[0]; const float y = b[0]; c[0] = x + y + d[0]; a[1] = 2; }
//# accept integer arithmetic of all widths
kernel void f(device ulong* u, device long* l, device ushort* s, device uchar* c, device char* b) { u[0] = u[1] * 6364136223846793005ul + 1442695040888963407UL; l[0] = -l[1] / 3 % 7; s[0] = s[1] << 3 | s[2] >> 13; c[0] = ~c[1] + 1; b[0] = -b[1]; u[2] = mulhi(u[0], u[1]); u[3] = ulong(uint(u[0])) * uint(u[1]); l[1] = l[0] >> 63; u[4] = popcount(u[0]) + clz(u[1]) + ctz(u[2]); s[1] = rotate(s[0], ushort(3)); u[5] = 1ul << 40; int shift = 3; u[6] <<= shift; }
//# accept integer types in other spellings
kernel void f(device ulong* u) { unsigned long a = 1ull; long b = -1ll; unsigned x = 3; signed char c = -1; unsigned char d = 2; long int e = 4; short int g = 5; u[0] = a + b + x + c + d + e + g; size_t n = sizeof(a); uint64_t q = 3; int32_t w = 2; u[1] = n + q + w; ptrdiff_t p = 1; u[2] = p; }
//# accept array of arrays and std-like array
kernel void f(device float* o) { float a[3][4] = {{1, 2}, {3}}; array<float, 4> b = {1, 2, 3, 4}; array<array<int, 2>, 2> c = {{{1, 2}, {3, 4}}}; thread float* row = a[1]; row[2] = b[3] + c[1][0] + b.size(); for (auto x : b) o[1] += x; float s[] = {1, 2, 3}; o[0] = a[1][2] + sizeof(s) / sizeof(s[0]); }
//# accept a comma, casts and sizeof in expressions
kernel void f(device float* o) { int i = (1, 2); o[i] = (float)3 + float(4) + int(2.5f) + sizeof(float4) + sizeof o[0] + alignof(float3) + !i + ~i + (i ? 1 : 0) + (i && 0 || 1); bool b = i; o[0] = b ? .5f : 5.f; o[1] = (i++, i); o[2] = 'a' + '\n' + true; }
//# accept range-based for and structured loops over constants
constant int kOffsets[3] = {-1, 0, 1};
kernel void f(device int* o) { for (int d : kOffsets) o[0] += d; for (constant int& d : kOffsets) o[1] += d; int l[2] = {1, 2}; for (thread int& x : l) x += 1; o[2] = l[0]; }
//# accept METAL_FUNC and static inline helpers
METAL_FUNC float g(float x) { return x * 2; } static METAL_FUNC float h(float x) { return x; } static inline constexpr float k(float x) { return x + 1; } inline __attribute__((always_inline)) float m(float x) { return x; }
kernel void f(device float* o) { o[0] = g(1) + h(2) + k(3) + m(4); }
//# accept null pointers and pointer conditions
kernel void f(device float* o, device const float* p) { device float* q = nullptr; device float* r = 0; if (p && !q && r == nullptr) o[0] = 1; q = p != nullptr ? o : nullptr; if (q != nullptr) *q = 2; }
//# accept assignment of arrays in structs
struct A { float v[4]; }; kernel void f(device A* a, constant A& c) { A x = c; A y = {{1, 2, 3, 4}}; x = y; a[0] = x; a[1] = a[0]; threadgroup A t; t = x; y = t; a[2] = t; a[3] = c; }
//# accept user names that the library has too
float2 cmul(float2 a, float2 b) { return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); } inline float sqr(float x) { return x * x; } float saturate01(float x) { return clamp(x, 0.0f, 1.0f); } struct complex { float re, im; }; float lerp(float a, float b, float t) { return mix(a, b, t); } uint hash(uint x) { return x * 3; } constant float pi = 3.14f; constant float e = 2.7f;
kernel void f(device float* o) { float min_value = 1, max = 2, step = 3; complex c = {1, 2}; o[0] = cmul(float2(c.re, c.im), float2(1)).x + sqr(2) + saturate01(2) + lerp(0, 1, .5f) + hash(3) + pi + e + min_value + max + step; }
