"""What the optimiser makes of vector code: whole-vector operations, and stores of no more than was assigned."""

from __future__ import annotations

import re

from precompiled import Precompiled


def body(code: str) -> str:
    """The instructions of the only function."""
    (found,) = re.findall(r"^define [^\n]*\{\n(.*?)^\}", code, re.MULTILINE | re.DOTALL)
    return found


FLAGS = "nnan|ninf|nsz|arcp|contract|afn|reassoc|fast|nuw|nsw"
OPERATION = re.compile(rf"= (?:tail )?(?:call )?([a-z.]+) (?:(?:{FLAGS}) )*(<[^>]*>|\w+)")


def operations(code: str) -> list[str]:
    """Every instruction that computes, with the type that it computes on."""
    passed_over = ("load", "getelementptr", "zext", "phi", "trunc")
    return [f"{name} {kind}" for name, kind in OPERATION.findall(code) if name not in passed_over]


def test_arithmetic_is_on_whole_vectors(prelude: Precompiled) -> None:
    code = body(prelude.code("void f(device float4* a, device const float4* b, uint i) { a[i] = a[i] * b[i] + a[i]; }"))
    assert sorted(operations(code)) == ["fadd <4 x float>", "fmul <4 x float>"]
    assert (code.count("load <4 x float>"), code.count("store <4 x float>")) == (2, 1)


def test_a_swizzle_is_a_shuffle(prelude: Precompiled) -> None:
    code = body(prelude.code("void f(device float4* a) { a[0] = a[1].wzyx; }"))
    assert operations(code) == ["shufflevector <4 x float>"]


def test_comparison_and_select_have_no_branch(prelude: Precompiled) -> None:
    source = "void f(device float4* a) { a[0] = select(a[1], a[2], a[1] < a[2] && a[2] > 0.0f); }"
    code = body(prelude.code(source))
    assert "select <4 x i1>" in code
    assert not re.search("br i1|extractelement", code)


def test_packed_vectors_load_at_once(prelude: Precompiled) -> None:
    code = body(prelude.code("void f(device packed_float4* a) { a[1] = a[0] * a[2]; }"))
    assert [operation for operation in operations(code) if "shuffle" not in operation] == ["fmul <4 x float>"]
    assert len(re.findall(r"load <4 x float>.*align 4", code)) == 2


def test_a_matrix_product_is_vector_code(prelude: Precompiled) -> None:
    code = body(prelude.code("void f(device float4x4* m, device float4* v) { v[0] = m[0] * v[1]; }"))
    assert code.count("load <4 x float>") == 5
    assert not re.search("fmul float|alloca", code)


def test_a_component_is_stored_alone(prelude: Precompiled) -> None:
    """Other threads may be writing the neighbours."""
    source = (
        "void f(device float4* a, float s, uint i) { a[0].y = s; a[1].xz = float2(s); a[2][i & 3] = s; a[3].w += s; }"
    )
    code = body(prelude.code(source))
    assert re.findall(r"store (<[^>]*>|\w+)", code) == ["float"] * 5


def test_loops_over_elements_vectorise(prelude: Precompiled) -> None:
    source = """
void f(device float* out, device const float* in, constant float3& scale, uint n) {
    for (uint i = 0; i < n; ++i) {
        float3 v = float3(in[i], in[i + n], 1.0f) * scale;
        out[i] = dot(v, v) + clamp(v.x, 0.0f, 1.0f);
    }
}"""
    assert re.search(r"fmul (contract )?<\d+ x float>", body(prelude.code(source)))


def test_vectors_need_no_more_alignment_than_their_elements(prelude: Precompiled) -> None:
    """A row of odd length may begin anywhere; instructions that fault there want 16 bytes or more."""
    statements = "v[1] = v[2] * 2.0f; v[3].xyz = v[4].zyx; m[0] = m[1] * m[2]; s[0] = s[1]; v[5] = s[2].a;"
    parameters = "device float4* v, device float4x4* m, device S* s"
    code = body(prelude.code(f"struct S {{ float4 a; float b; }}; void f({parameters}) {{ {statements} }}"))
    assert max(map(int, re.findall(r"(?:load|store) .*align (\d+)", code))) <= 8
