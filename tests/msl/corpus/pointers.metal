//# accept pointers into every address space
float d(device const float* p) { return *p; }
float c(constant float* p) { return *p; }
float g(threadgroup const float* p) { return *p; }
float t(thread float* p) { return *p; }
kernel void f(device float* o, constant float* k) { threadgroup float s[4]; float l[2] = {1, 2}; s[0] = 1; o[0] = d(o) + c(k) + g(s) + t(l); }
//# accept references in every address space
void d(device float& r) { r += 1; }
void t(thread float& r) { r += 1; }
void g(threadgroup float& r) { r += 1; }
float c(constant float4& r) { return r.x; }
kernel void f(device float* o, constant float4& k) { threadgroup float s; float l = c(k); t(l); s = l; g(s); d(o[0]); o[1] = l + s; }
//# accept pointer arithmetic and comparisons
kernel void f(device const float* a, device float* o, constant uint& n) {
    device const float* p = a + 2;
    device const float* end = a + n;
    float s = 0;
    while (p < end) s += *p++;
    o[0] = s + float(end - a) + p[-1];
}
//# accept casts within an address space
kernel void f(device uchar* bytes, device float* o, constant void* raw) {
    device const uint* w = (device const uint*)bytes;
    device float4* v = reinterpret_cast<device float4*>(o);
    constant float2* r = static_cast<constant float2*>(raw);
    v[0] = float4(w[0]) + r[0].xyxy;
}
//# accept a pointer to an array and to a pointer
kernel void f(device float* o) {
    threadgroup float s[4][8];
    threadgroup float (*row)[8] = s;
    threadgroup float (&first)[8] = s[0];
    thread float x = 1, *thread px = &x;
    device float* device* pp = (device float* device*)o;
    row[1][2] = *px; o[0] = first[1] + (pp ? 1 : 0);
}
//# accept auto pointers and references
kernel void f(device float4* o) { auto p = o + 1; device auto& r = o[2]; auto v = *p; o[0] = v + r; }
//# accept an array parameter
float sum(thread float a[4]) { return a[0] + a[3]; }
void fill(thread float (&a)[4]) { for (int i = 0; i < 4; ++i) a[i] = i; }
kernel void f(device float* o) { float a[4]; fill(a); o[0] = sum(a); }
//# accept template parameters that bring the address space
template <typename P> float first(P p) { return p[0]; }
template <typename T> void twice(thread T& x) { x = x + x; }
template <typename T> T load(const device T* p, uint i) { return p[i]; }
kernel void f(device float* o, constant float* c) { float x = first(o) + first(c) + load(o, 1); twice(x); o[0] = x; }
//# accept products that look like declarations
struct state { float v; };
kernel void f(device float* o, constant uint& size, uint i [[thread_position_in_grid]]) { float a = 2, b = 3; uint count = size * i; float c = a * b; o[count] = c; float half_width = a * 2; o[0] = half_width; }
//# refuse a parameter without address space @ 1: pointer type must have explicit address space qualifier
float g(float* p) { return p[0]; }
kernel void f(device float* o) { float l[2] = {1, 2}; o[0] = g(l); }
//# refuse a const parameter without address space @ 1: pointer type must have explicit address space qualifier
float g(const float4* p) { return p[0].x; }
kernel void f(device float* o) { float4 l[2]; l[0] = 1; o[0] = g(l); }
//# refuse a reference without address space @ 1: reference type must have explicit address space qualifier
void g(float& r) { r += 1; }
kernel void f(device float* o) { float l = 1; g(l); o[0] = l; }
//# refuse a const reference to a struct without address space @ 2: reference type must have explicit address space qualifier
struct S { float a; };
float g(const S& s) { return s.a; }
kernel void f(device float* o) { S s; s.a = 1; o[0] = g(s); }
//# refuse a local pointer without address space @ 1: pointer type must have explicit address space qualifier
kernel void f(device float* o) { float* p = o; p[0] = 1; }
//# refuse a member pointer without address space @ 1: pointer type must have explicit address space qualifier
struct S { float* p; };
kernel void f(device float* o) { o[0] = sizeof(S); }
//# refuse a cast without address space @ 1: pointer type must have explicit address space qualifier
kernel void f(device float* o) { device uint* p = (device uint*)(uint*)o; p[0] = 1; }
//# refuse a return type without address space @ 1: reference type must have explicit address space qualifier
struct S { float a[4]; float& at(int i) { return a[i]; } };
kernel void f(device float* o) { S s; s.at(0) = 1; o[0] = s.a[0]; }
//# refuse a buffer without address space @ 1: pointer type must have explicit address space qualifier
kernel void f(float* o [[buffer(0)]]) { o[0] = 1; }
//# refuse a pointer to a pointer with one qualifier @ 1: pointer type must have explicit address space qualifier
kernel void f(device float* o) { device float** p = 0; o[0] = p ? 1 : 0; }
//# refuse threadgroup to device @ 1
kernel void f(device float* o) { threadgroup float s[4]; device float* p = s; p[0] = 1; }
//# refuse a C cast from threadgroup to device @ 1
kernel void f(device float* o) { threadgroup float s[4]; device float* p = (device float*)s; p[0] = 1; o[0] = 1; }
//# refuse device for a thread parameter @ 2
void g(thread float* p) { p[0] = 1; }
kernel void f(device float* o) { g(o); }
//# refuse constant for a device parameter @ 2
float g(device const float* p) { return p[0]; }
kernel void f(device float* o, constant float* c) { o[0] = g(c); }
//# refuse dropping const @ 1
kernel void f(device const float* a, device float* o) { device float* p = a; p[0] = o[0]; }
//# accept methods for objects of each address space
struct S { float a; float get() const { return a; } float get() const device { return a; } float get() const constant { return a; } };
kernel void f(device S* s, constant S& c) { S l = s[0]; s[1].a = l.get() + s[0].get() + c.get(); }
//# refuse an unqualified method on a device object @ 2
struct S { float a; float get() const { return a; } };
kernel void f(device S* s) { s[0].a = s[1].get(); }
//# accept methods that hand out their members
struct Rng { uint s; uint next(); thread uint& state() { return s; } };
uint step(thread uint& s) { s = s * 747796405u + 1u; return s >> 3; }
uint Rng::next() { return step(s); }
struct Box { float v[4]; thread float& operator[](int i) { return v[i]; } thread const float* data() const { return v; } thread Box& operator+=(float x) { v[0] += x; return *this; } };
kernel void f(device float* o) { Rng r; r.s = 1; Box b; b[0] = r.next(); (b += 1) += 2; o[0] = b.data()[0] + r.state(); }
//# accept conditionals over address spaces
struct S { float4 v; int n; };
kernel void f(device float4* o, constant S* c, uint i [[thread_position_in_grid]]) {
    threadgroup float4 t[4];
    float4 l = float4(1);
    l = i > 2 ? o[i] : float4(0);
    l = i > 3 ? t[1] : l;
    l += i < 5 ? o[0] : t[2];
    S s = i & 1 ? c[0] : S{float4(2), 3};
    device float4* p = i & 1 ? o : o + 1;
    int n = i > 1 ? s.n : (i > 0 ? c[1].n : 4);
    (i > 4 ? l : s.v) = float4(n);
    *p = l + s.v;
}
