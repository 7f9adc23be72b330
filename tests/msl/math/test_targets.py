"""A program that calls most of the library compiles and links, with the glue alone, for every kind of processor."""

from __future__ import annotations

from pathlib import Path

import pytest
from prelude_image import FAST_MATH, PRECISE_MATH, Target, build, compile_glue

PROGRAM = """#include "kfp_prelude.h"
using namespace metal;
void floats(device float* o, device float3* p, device packed_float3* q, constant float3& c, uint i) {
    p[2] = sqrt(p[3].xyz) + sin(q[3]) + exp(-c) + pow(c, 2) + max(c, 0) + min(1.0f, p[3]);
    p[3] = max(max(p[3], p[2]), float3(0.0f)) * rsqrt(dot(p[1], p[1]) + 1e-6f);
    p[4].xy = fabs(p[4].xy);
    p[5].x = floor(p[5].y);
    p[6] = fract(p[6]) + fmod(p[7], 2.0f) + fmod(p[7], float3(1, 2, 3));
    int e;
    float cosine;
    o[6] = frexp(o[7], e) + ldexp(o[8], e) + sincos(o[9], cosine) + copysign(cosine, o[8]);
    o[7] = atan2(o[9], o[8]) + powr(o[1], 2.0f) + exp10(o[1]) + tanpi(o[1]) + fdim(o[1], o[2]) + trunc(o[1]);
    o[8] = rint(o[2]) + round(o[3]) + ceil(o[1]) + fmax3(o[1], o[2], o[3]) + median3(o[1], o[2], o[3]);
    o[9] = divide(o[1], o[2]) + nextafter(o[1], o[2]) + acosh(o[1]) + asinh(o[1]) + atanh(o[1]) + sinpi(o[2]);
    o[i] = fma(o[1], o[2], o[3]) + precise::sin(o[1]) + precise::fmod(o[1], o[2]) + fast::exp(o[1]) + cospi(o[i]);
}
void halves(device half4* h, device bfloat* b, device bfloat4* b4, device float4* f) {
    h[0] = exp(h[1]) + max(h[2], half(0)) + fma(h[0], h[1], h[2]) + half4(f[0]) + round(h[3]) + fmin(h[1], h[2]);
    f[1] = tanh(float4(h[2])) + float4(b4[0]);
    b[0] = max(b[1], bfloat(exp(float(b[3]))));
}
void integers(device ulong* l, device uint4* u, device atomic<uint>* a, threadgroup atomic<int>* t) {
    l[0] = mulhi(l[1], l[2]) + l[3] / l[4] + popcount(l[5]);
    u[0] = clz(u[1]) + u[2] % u[3];
    atomic_fetch_max_explicit(a, 3u, memory_order_relaxed);
    atomic_fetch_add_explicit(t, 1, memory_order_relaxed);
}
void groups(device float* o, device float3* p, device half* h, uint i) {
    o[1] = simd_sum(p[0].x) + quad_sum(o[1]) + simd_max(p[1]).x + simd_broadcast(h[0], 0);
    o[3] = simd_prefix_inclusive_sum(i);
    if (simd_is_first()) o[2] = popcount(ulong(simd_ballot(o[1] > 0)));
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    simdgroup_float8x8 a, b = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    simdgroup_load(a, o + i * 64, 8, ulong2(0, 0));
    simdgroup_multiply_accumulate(b, a, a, b);
    simdgroup_store(b * simdgroup_float8x8(2), o, 8, ulong2(8, 0), true);
}
"""

CASES = [
    (Target("x86_64", "x86-64"), PRECISE_MATH),
    (Target("x86_64", "x86-64-v4"), FAST_MATH),
    (Target("aarch64", "generic"), FAST_MATH),
    (Target("aarch64", "generic"), PRECISE_MATH),
]


@pytest.mark.parametrize(("target", "flags"), CASES)
def test_links_without_a_library(target: Target, flags: tuple[str, ...], tmp_path: Path) -> None:
    image = build("program", PROGRAM, compile_glue(tmp_path, target), tmp_path, *flags, target=target)
    assert image.stat().st_size > 0
