"""What calls of library functions mean, and which ones are refused, as with Apple's overload sets."""

from __future__ import annotations

from pathlib import Path

from prelude_image import diagnostics

PRELUDE = '#include "kfp_prelude.h"\nusing namespace metal;\n'

ACCEPTED = """
static_assert(is_same_v<decltype(pow(2, 1.5f)), float>);
static_assert(is_same_v<decltype(sin(half(1))), half>);
static_assert(is_same_v<decltype(max(half3(1), half3(2))), half3>);
static_assert(is_same_v<decltype(fast::exp(half(1))), float>);
static_assert(is_same_v<decltype(precise::divide(float2(1), float2(2))), float2>);
static_assert(is_same_v<decltype(fma(float4(1), 2.0f, float4(3))), float4>);
static_assert(is_same_v<decltype(ilogb(float3(1))), int3>);
static_assert(is_same_v<decltype(max(1, 2)), int>);
static_assert(is_same_v<decltype(abs(-1)), int>);
static_assert(is_same_v<decltype(abs(float2(-1))), float2>);
static_assert(is_same_v<decltype(metal::precise::rsqrt(1.0f)), float>);
static_assert(is_same_v<decltype(atan2(packed_float3(1), float3(2))), float3>);
void stores(float x) {
    float c = 0, f; int e; float2 c2; int3 e3;
    f = sincos(x, c) + modf(x, c) + frexp(x, e) + fast::sincos(x, c) + precise::sincos(x, c);
    f += sincos(float2(x), c2).x + frexp(float3(x), e3).y;
}
"""

REFUSED = {
    "sqrt(2)": "ambiguous",
    "sin(1)": "ambiguous",
    "max(1, 2.0f)": "ambiguous",
    "max(half(1), 1.0f)": "ambiguous",
    "min(1u, 2)": "ambiguous",
    "pow(float2(1), float3(1))": "no matching function",
    "fast::sin(half2(1))": "no matching function",
    "sin(int2(1))": "no matching function",
    "erf(1.0f)": "undeclared identifier",
    "lgamma(1.0f)": "undeclared identifier",
    "sincospi(1.0f)": "undeclared identifier",
    "sinf(1.0f)": "undeclared identifier",
    "native_sin(1.0f)": "undeclared identifier",
}


def test_accepted(tmp_path: Path) -> None:
    assert diagnostics(PRELUDE + ACCEPTED, tmp_path) == []


def test_refused(tmp_path: Path) -> None:
    lines = [f"void refused_{n}() {{ auto r = {call}; }}" for n, call in enumerate(REFUSED)]
    errors = diagnostics(PRELUDE + "\n".join(lines), tmp_path)
    for n, (call, meaning) in enumerate(REFUSED.items()):
        here = [e for e in errors if f"program.cl:{n + 3}:" in e]
        assert any(meaning in e for e in here), f"{call}: {here}"
