"""What the types and functions of the prelude accept, what they mean at compile time, and what they refuse."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from precompiled import Precompiled
from prelude_image import INCLUDE, LANGUAGE, SEMANTICS, ZIG

ACCEPTED = sorted((Path(__file__).parent / "accepted").glob("*.metal"))


@pytest.mark.parametrize("program", ACCEPTED, ids=lambda path: path.stem)
def test_accepted(prelude: Precompiled, program: Path) -> None:
    assert prelude.errors(program.read_text()) == []


# Each statement with what the compiler must say of it. In scope: the parameters of the function around it.
REFUSED = {
    "f3 = f4;": "no viable overloaded '='",
    "f3 = i3;": "no viable overloaded '='",
    "float2 v = float3(1);": "no viable conversion",
    "int3 v = f3;": "no viable conversion",
    "float4 v = (float4)f3;": "no matching conversion",
    "float3 v(1, 2);": "ambiguous",
    "float2 v(1, 2, 3);": "no matching constructor",
    "float4 v(float2(1), 3);": "deleted constructor",
    "float4 v(f3, float2(1));": "no matching constructor",
    "float3 v(half2(1), 1);": "no matching constructor",
    "float2 v{i, i};": "cannot be narrowed",
    "f3 + f4;": "invalid operands",
    "f3 * i3;": "invalid operands",
    "i3 * 1.5f;": "deleted operator",
    "i3 *= 1.5f;": "deleted operator",
    "if (any(i3 > 0.5f)) {}": "deleted operator",
    "f3 % f3;": "invalid operands",
    "f3 << 1;": "invalid operands",
    "f3 & 1;": "invalid operands",
    "if (f3 > f3) {}": "not contextually convertible to 'bool'",
    "if (f3) {}": "not contextually convertible to 'bool'",
    "float s = f3;": "no viable conversion",
    "f3.w = 1;": "no member named 'w'",
    "f3.xg = 1;": "no member named 'xg'",
    "f4.xx = float2(1);": "cannot find suitable setter for property 'xx'",
    "f4.xy = f3;": "no viable conversion",
    "c4.x = 1;": "not marked const",
    "c4[1] = 1;": "not assignable",
    "thread float& r = f4[0];": "changes address space",
    "thread float* p = &f4[1];": "cannot initialize",
    "max(1, u);": "ambiguous",
    "min(i, 1.0f);": "ambiguous",
    "clamp(u, 0, 5);": "ambiguous",
    "max(i3, uint3(1));": "no matching function",
    "max(f3, f4);": "no matching function",
    "popcount(1.0f);": "ambiguous",
    "popcount(f3);": "no matching function",
    "select(0, 1.0f, true);": "ambiguous",
    "select(f3, f4, true);": "no matching function",
    "select(f3, f3, i3);": "no matching function",
    "any(i3);": "no matching function",
    "dot(1.0f, 2.0f);": "no matching function",
    "dot(i3, i3);": "no matching function",
    "cross(f4, f4);": "no matching function",
    "mix(1, 2, 3);": "ambiguous",
    "as_type<float2>(1.0f);": "no matching function",
    "as_type<half>(1);": "no matching function",
    "float2x2 m(1, 2, 3);": "no matching constructor",
    "float2x2 m = 1.0f;": "no viable conversion",
    "float2x2(1) + float3x3(1);": "invalid operands",
    "float3x3(1) * f4;": "invalid operands",
    "determinant(float2x3(1, 2, 3, 4, 5, 6));": "no matching function",
    "array<int, 2> a = {1, 2, 3};": "excess elements",
    "texture2d<float> t;": "textures are not supported on this device",
    "constexpr sampler s(filter::linear);": "samplers are not supported on this device",
    "raytracing::ray r;": "ray tracing functions are not supported on this device",
    "raytracing::intersector<> r;": "ray tracing functions are not supported on this device",
    "visible_function_table<int(int)> t;": "visible functions are not supported on this device",
}


def test_refused(prelude: Precompiled) -> None:
    parameters = "float3 f3, float4 f4, int3 i3, int i, uint u, device const float4& c4"
    source = "".join(f"void f{n}({parameters}) {{ {statement} }}\n" for n, statement in enumerate(REFUSED))
    errors = prelude.errors(source)
    otherwise = {}
    for n, (statement, message) in enumerate(REFUSED.items()):
        told = [error for error in errors if error.startswith(f"{n + 1}: ")]
        if not any(message in error for error in told):
            otherwise[statement] = told
    assert otherwise == {}


# A file scope initialiser must not need code that runs at start-up, of which there is none.
def test_program_scope_tables_are_constants(prelude: Precompiled) -> None:
    code = prelude.code("""
constant float2 table[2] = {float2(1, 2), float2(3, 4).yx};
constant float3x3 basis(float3(1, 0, 0), float3(0, 1, 0), float3(0, 0, 1));
constant array<packed_float3, 2> packed = {packed_float3(1, 2, 3), float3(4)};
float f(uint i) { return table[i].x + basis[i].y + packed[i].z; }""")
    assert not re.search("global_ctors|__cxx_global", code)
    assert "float 4.000000e+00, float 3.000000e+00" in code


@pytest.mark.parametrize(
    "target",
    [
        ("x86_64-unknown-linux-gnu", "-target-cpu", "x86-64"),
        ("aarch64-unknown-linux-gnu", "-target-cpu", "generic"),
        ("nvptx64-nvidia-cuda", "-target-cpu", "sm_90", "-target-feature", "+ptx80"),
    ],
    ids=lambda target: target[0].split("-")[0],
)
def test_prelude_compiles_for_every_target(target: tuple[str, ...]) -> None:
    command = [str(ZIG), "clang", "-cc1", "-triple", *target, *LANGUAGE, *SEMANTICS, f"-I{INCLUDE}", "-fsyntax-only"]
    done = subprocess.run([*command, str(INCLUDE / "kfp_prelude.h")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
