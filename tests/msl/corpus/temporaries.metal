//# accept temporaries for references to constant objects in thread memory
struct Fp { ulong l[2]; };
float scalar(thread const float& x) { return x; }
float vector(const thread float4& x, thread const float4& y) { return x.x + y.y; }
ulong low(thread const Fp& x) { thread const ulong* p = x.l; return p[0]; }
Fp add(thread const Fp& a, const thread Fp& b) { Fp r; for (int i = 0; i < 2; i++) r.l[i] = a.l[i] + b.l[i]; return r; }
kernel void f(device float* o, device Fp* p) {
    Fp x = p[0], y = p[1];
    o[0] = scalar(1.0f) + scalar(1) + scalar(o[1] * 2);
    float4 v(o[2]);
    o[1] = vector(v + v, 2.0f * v) + vector(float4(1), v) + vector(v, float4(1, 2, 3, 4));
    o[2] = low(add(x, add(x, y))) + low(add(add(x, y), y)) + low(Fp{{1, 2}}) + low(x);
}
//# accept temporaries in templates, operators and prototypes
template <uint N> struct Big { uint l[N]; };
template <uint N> Big<N> sum(thread const Big<N>& a, thread const Big<N>& b) { Big<N> r; for (uint i = 0; i < N; ++i) r.l[i] = a.l[i] + b.l[i]; return r; }
template <typename T> T twice(thread const T& x) { return x + x; }
template <int K> float scaled(thread const float2& v) { return v.x * K; }
struct G { ulong v; G(ulong x) : v(x) {} };
G operator*(thread const G& a, thread const G& b);
G operator*(thread const G& a, thread const G& b) { return G(a.v * b.v); }
G operator+(G a, thread const G& b) { return G(a.v + b.v); }
kernel void f(device uint* o) {
    Big<4> a, b; a.l[0] = b.l[0] = 1;
    o[0] = sum(sum(a, b), b).l[0] + sum(a, sum(a, b)).l[1] + sum(sum(a, a), sum(b, b)).l[2] + sum(a, b).l[3];
    o[1] = twice(3u) + uint(twice(1.0f * o[0])) + uint(scaled<3>(float2(1, 2) + 1.0f));
    G g(2), h = g * g; h = (g * h) * (g + h) + g * G(3); o[2] = uint(h.v);
}
//# accept methods of temporaries
struct C {
    float v;
    C(float x) : v(x) {}
    float get() const { return v; }
    C plus(thread const C& other) const { return C(v + other.v); }
    C next(thread const C& by) { v += by.v; return *this; }
    C minus(C other) const thread { return C(v - other.v); }
    float length() const;
    operator float() const { return v; }
    C operator-() const { return C(-v); }
    float operator[](int i) const { return v * i; }
    static C zero() { return C(0); }
};
float C::length() const { return v < 0 ? -v : v; }
template <typename T> struct Box { T x; T get() const { return x; } template <typename U> U as(thread const T& scale) const { return U(x * scale); } };
Box<float> boxed(float v) { Box<float> b; b.x = v; return b; }
kernel void f(device float* o) {
    C c(1.0f);
    o[0] = C(2.0f).get() + c.plus(C(3)).plus(c).get() + c.minus(C(1)).minus(c).get() + C(-3).length() + c.next(C(1)).get() + c.next(c).get();
    o[1] = float(-c) + (-(-c)).get() + C(4)[2] + C::zero().get() + float(C(3));
    o[2] = boxed(2).get() + boxed(3).as<int>(2.0f) + boxed(3).as<float>(o[0]);
}
//# accept overloads by address space beside temporaries
struct P { float4 v; };
float get(thread const P& p) { return p.v.x; }
float get(device const P& p) { return p.v.y; }
float get(threadgroup const P& p) { return p.v.z; }
P make(float x) { P p; p.v = x; return p; }
kernel void f(device float* o, device P* ps) { threadgroup P t; P l = ps[0]; o[0] = get(ps[1]) + get(l) + get(t) + get(make(2)); }
//# refuse a device object for a reference to thread memory @ 3: no matching function
struct Fp { ulong l[2]; }; ulong low(thread const Fp& x) { return x.l[0]; }
kernel void f(device ulong* o, device Fp* p) {
    o[0] = low(p[0]);
}
//# refuse a threadgroup object in an operator of thread objects @ 3: invalid operands
struct G { ulong v; }; G operator*(thread const G& a, thread const G& b) { return G{a.v * b.v}; }
kernel void f(device ulong* o) { threadgroup G t; G g{1};
    o[0] = (g * t).v;
}
//# refuse a method of thread objects called on a device object @ 3: get
struct C { float v; float get() const { return v; } };
kernel void f(device float* o, device C* c) {
    o[0] = c[0].get();
}
//# accept conditionals over constructed values
template <typename T> T pick(bool c, T a) { return c ? T(a) : a; }
struct S { float x, y; S(float a, float b) : x(a), y(b) {} S(float a) : x(a), y(a) {} };
kernel void f(device float* o, device const float* a, constant uint& n, uint i [[thread_position_in_grid]]) {
    float2 x = (i < n) ? float2(a[i], 0) : float2(0);
    float4 w = i < n ? float4(x, x) : float4(0);
    packed_float3 p = i > 2 ? packed_float3(1, 2, 3) : packed_float3(0);
    vec<float, 3> q = i > 1 ? vec<float, 3>(1, 2, 3) : metal::float3(0);
    S s = i > 3 ? S(1, 2) : S(3);
    o[i] = x.x + w.y + p.z + q.x + s.x + pick(i > 1, float2(1)).x;
}
//# accept conditionals over values constructed in braces
template <uint N> struct E { ulong e[N]; };
template <uint N> E<N> make(ulong x) { E<N> r; for (uint i = 0; i < N; ++i) r.e[i] = x; return r; }
template <uint N> ulong pick(bool c, ulong x) {
    typedef E<N> T;
    E<N> a = c ? make<N>(x) : E<N>{}, b = c ? E<N>{{1, 2}} : a;
    T d = c ? T{} : make<N>(3), e = c ? typename conditional<true, T, uint>::type{} : make<N>(4);
    return a.e[0] + b.e[1] + d.e[2] + (c ? e : T()).e[0];
}
struct P { ulong lo, hi; static P zero() { return P{0, 0}; } };
P swapped(P p) { return P{p.hi, p.lo}; }
kernel void f(device ulong* o, device P* d, constant P& c) {
    P p = o[0] > 1 ? P{1, 2} : swapped(d[0]), q = o[1] ? (P){3, 4} : P::zero();
    d[1] = o[5] ? d[0] : P{7, 8};
    o[2] = pick<3>(o[3], 2) + p.lo + q.hi + (o[4] ? c : P{}).lo;
}
