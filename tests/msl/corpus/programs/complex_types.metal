#include <metal_stdlib>
using namespace metal;

struct cplx {
    float re, im;
    cplx() thread = default;
    constexpr cplx(float r, float i) : re(r), im(i) {}
    cplx operator+(cplx o) const { return cplx(re + o.re, im + o.im); }
    cplx operator*(const cplx o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
    thread cplx& operator+=(const thread cplx& o) { re += o.re; im += o.im; return *this; }
    float norm() const { return sqrt(re * re + im * im); }
    static cplx polar(float r, float t) { return cplx(r * cos(t), r * sin(t)); }
};
inline cplx operator-(cplx a, cplx b) { return cplx(a.re - b.re, a.im - b.im); }

template <typename T, int N>
struct SmallVec {
    T data[N];
    thread T& operator[](int i) { return data[i]; }
    const thread T& operator[](int i) const { return data[i]; }
    T sum() const {
        T s = data[0];
        for (int i = 1; i < N; ++i) s = s + data[i];
        return s;
    }
};

namespace detail {
    template <uint N> struct Log2 { enum { value = 1 + Log2<N / 2>::value }; };
    template <> struct Log2<1> { enum { value = 0 }; };
    constexpr uint factorial(uint n) { return n <= 1 ? 1 : n * factorial(n - 1); }
}

using vec4 = float4;
typedef struct { float4 lo; float4 hi; } Pair;
enum { kIterations = detail::Log2<64>::value };
static_assert(kIterations == 6, "log2");
constant uint kFact5 = detail::factorial(5);

template <typename T>
inline T clamp_add(T a, T b, T limit) { return min(a + b, limit); }
template <>
inline int clamp_add<int>(int a, int b, int limit) { return a + b > limit ? limit : a + b; }

kernel void mixed(device cplx* z [[buffer(0)]], device Pair* pairs [[buffer(1)]], device float* out [[buffer(2)]],
                  device const int* ints [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    cplx a = z[i];
    cplx b = cplx::polar(1.0f, 0.5f * a.re);
    a += b;
    a = a * b - cplx(1.0f, 0.0f);
    SmallVec<float, 4> v;
    for (int k = 0; k < 4; ++k) v[k] = a.norm() * float(k);
    Pair p = pairs[i];
    vec4 q = p.lo * 2.0f + p.hi.wzyx;
    p.hi = q;
    pairs[i] = p;
    int count = clamp_add(ints[i], 3, 10);
    do {
        count--;
    } while (count > 0 && count != 5);
    out[i] = v.sum() + q.x + float(kFact5) + float(count) + clamp_add(1.0f, 2.0f, 2.5f);
    z[i] = a;
    auto r = as_type<uint>(out[i]) & 0x7fffffffu;
    out[i] = as_type<float>(r);
}
