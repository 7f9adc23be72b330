// Makes the compiler instantiate, once and into the precompiled header, what ordinary kernels use. Without this a mere
// `float4 v;` costs every compilation 10 ms: declaring a class's implicit members reads in all the members it has.
#ifndef KFP_INSTANTIATE_H
#define KFP_INSTANTIATE_H

#include "geometric.h"
#include "integer.h"
#include "math.h"
#include "matrix.h"
#include "relational.h"

namespace __kfp {

template <class V>
inline void instantiate_class(V a) {
    V b, c(a), d(static_cast<V&&>(a));
    b = c;
    b = static_cast<V&&>(d);
    b = V();
    (void)b[0];
    b[1] = c[1];
    (void)(b == c);
    (void)(b != c);
}

template <class T>
inline void instantiate_classes(T s) {
    instantiate_class<vec<T, 2>>(s);
    instantiate_class<vec<T, 3>>(s);
    instantiate_class<vec<T, 4>>(s);
    (void)vec<T, 2>(s, s);
    (void)vec<T, 3>(s, s, s);
    (void)vec<T, 4>(s, s, s, s);
}

template <class V, class T>
inline void instantiate_arithmetic(V a, T s) {
    a = a + s;
    a = s - a;
    a = a * -a;
    a = a / s;
    a += s;
    a -= a;
    a *= s;
    a /= s;
    (void)(a < s);
    (void)(a > s);
    (void)(a <= s);
    (void)(a >= s);
    a.x = a.y;
    a.y += a.x;
    a.xy = a.yx;
}

template <class T>
inline void instantiate_numeric(T s) {
    instantiate_arithmetic(vec<T, 2>(s), s);
    instantiate_arithmetic(vec<T, 3>(s), s);
    instantiate_arithmetic(vec<T, 4>(s), s);
    const vec<T, 2> half_of_it(s);
    vec<T, 4> v(half_of_it, half_of_it);
    v = vec<T, 4>(vec<T, 3>(s), s);
    v.z = v.w;
    v.w = v.z;
    v.xyz = v.xyz;
    v.xy = v.zw;
    v.zw = v.xy;
    vec<T, 3> u(v.xyz);
    u.z = u.z;
    u.xy = u.xy;
}

template <class V>
inline void instantiate_bits(V a) {
    a = (a & a) | (a ^ ~a);
    a = (a << a) >> a;
    a = a % a;
}

template <class T>
inline void instantiate_integer(T s) {
    instantiate_numeric(s);
    instantiate_bits(vec<T, 2>(s));
    instantiate_bits(vec<T, 3>(s));
    instantiate_bits(vec<T, 4>(s));
}

template <class V>
inline void instantiate_functions(V a) {
    const element_of<V> s = a[0];
    a = metal::min(metal::max(a, a), a);
    a = metal::min(metal::max(a, s), s);
    a = metal::clamp(a, s, s);
    a = metal::clamp(a, a, a);
    a = metal::select(a, a, a < s);
    (void)metal::any(a > a);
}

template <class V>
inline void instantiate_float_functions(V a) {
    const element_of<V> s = a[0];
    a = metal::clamp(a, s, s) + metal::clamp(a, a, a);
    a = metal::mix(a, a, s) + metal::mix(a, a, a) + metal::saturate(a);
    a = metal::select(a, a, a < s);
    a = metal::max(a, s) + metal::min(a, s) + metal::max(a, a) + metal::min(a, a) + metal::abs(a) + metal::floor(a);
    a = metal::fma(a, a, a) + metal::sqrt(a) + metal::select(a, s, a < s) + metal::fract(a);
    a = metal::round(a) + metal::rint(a) + metal::ceil(a) + metal::trunc(a);
    (void)metal::any(metal::isnan(a));
    a = metal::normalize(a) * (metal::dot(a, a) + metal::length(a) + metal::distance(a, a) + metal::length_squared(a));
}

template <class M, class V>
inline void instantiate_matrix(M m, V v) {
    m = m * m;
    m = metal::transpose(m + m * v[0]);
    m[0] = m * v;
    m[1] = v * m;
    m[1][0] = metal::determinant(m);
}

template <class To, class From, int N>
inline void instantiate_conversion(From from) { (void)vec<To, N>(vec<From, N>(from)); }

template <int N>
inline void instantiate_conversions() {
    instantiate_conversion<float, int, N>(0);
    instantiate_conversion<float, uint, N>(0u);
    instantiate_conversion<float, half, N>((half)0);
    instantiate_conversion<float, uchar, N>((uchar)0);
    instantiate_conversion<float, ushort, N>((ushort)0);
    instantiate_conversion<float, bool, N>(false);
    instantiate_conversion<half, float, N>(0.0f);
    instantiate_conversion<int, float, N>(0.0f);
    instantiate_conversion<int, uint, N>(0u);
    instantiate_conversion<int, ushort, N>((ushort)0);
    instantiate_conversion<uint, float, N>(0.0f);
    instantiate_conversion<uint, int, N>(0);
    instantiate_conversion<uint, ushort, N>((ushort)0);
    instantiate_conversion<uchar, float, N>(0.0f);
}

template <class P, class V>
inline void instantiate_packed(P p, V v) {
    instantiate_class(p);
    p = v;
    v = p;
    v = V(p);
    p = P(v);
    p.x = p.y;
}

inline void instantiate_vectors() {
    instantiate_functions(int2(0));
    instantiate_functions(int3(0));
    instantiate_functions(uint2(0));
    instantiate_functions(uint3(0));
    instantiate_functions(uint4(0));
    instantiate_float_functions(float2(0.0f));
    instantiate_float_functions(float3(0.0f));
    instantiate_float_functions(float4(0.0f));
    (void)metal::cross(float3(0.0f), float3(0.0f));
    instantiate_matrix(float2x2(0.0f), float2(0.0f));
    instantiate_matrix(float3x3(0.0f), float3(0.0f));
    instantiate_matrix(float4x4(0.0f), float4(0.0f));
    instantiate_classes(false);
    instantiate_classes((char)0);
    instantiate_classes((uchar)0);
    instantiate_classes((short)0);
    instantiate_classes((ushort)0);
    instantiate_classes(0);
    instantiate_classes(0u);
    instantiate_classes(0l);
    instantiate_classes(0ul);
    instantiate_classes((half)0);
    instantiate_classes(0.0f);
    instantiate_classes((bfloat)0.0f);
    instantiate_numeric(0.0f);
    instantiate_numeric((half)0);
    instantiate_integer(0);
    instantiate_integer(0u);
    instantiate_conversions<2>();
    instantiate_conversions<3>();
    instantiate_conversions<4>();
    instantiate_packed(packed_float3(0.0f), float3(0.0f));
    instantiate_packed(packed_float4(0.0f), float4(0.0f));
    (void)as_type<uint>(0.0f);
    (void)as_type<int>(0.0f);
    (void)as_type<float>(0u);
    (void)as_type<float>(0);
    (void)as_type<uint>(uchar4((uchar)0));
    (void)as_type<uchar4>(0u);
}

}  // namespace __kfp

#endif
