"""Whatever a kernel does, the answer is a verdict that says what and where."""

from __future__ import annotations

import pytest
from kfp import Evaluation, Limits, evaluate
from kfp.sources import seed_source
from kfp.tasks import get_task

HEADER = """\
#include <metal_stdlib>
using namespace metal;
kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]], constant uint& N [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
    if (i >= N) return;
"""


def saxpy(body: str, **options: object) -> Evaluation:
    return evaluate("saxpy", f"{HEADER}{body}\n}}\n", scale="small", **options)  # type: ignore[arg-type]


def test_right() -> None:
    result = saxpy("    y[i] = a * x[i] + y[i];")
    assert result.verdict == "right"
    assert result.compile_ok
    assert result.pipeline_ok
    assert result.correct
    assert result.score is not None
    assert Evaluation.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    "body",
    [
        "    y[i] = a * x[i] - y[i];",
        "    y[i] = 0.0f;",
        "",
        "    if (i != N - 1) y[i] = a * x[i] + y[i];",
        "    y[i] = i == 77 ? NAN : a * x[i] + y[i];",
    ],
    ids=["sign", "zeros", "nothing", "last missing", "one NaN"],
)
def test_wrong(body: str) -> None:
    result = saxpy(body)
    assert result.verdict == "wrong"
    assert result.compile_ok
    assert result.pipeline_ok
    assert not result.correct
    assert result.score == 0.0
    assert len(result.configurations) == len(get_task("saxpy").configurations("small"))
    assert "elements differ" in result.reason
    assert Evaluation.from_json(result.to_json()) == result


def test_compile_error_names_the_place_in_the_users_source() -> None:
    result = saxpy("    y[i] = a * z[i];")
    assert result.verdict == "compile error"
    assert not result.compile_ok
    assert not result.pipeline_ok
    assert result.score == 0.0
    errors = [d for d in result.diagnostics if d.severity == "error"]
    assert [(d.line, d.column) for d in errors] == [(7, 16)]
    assert "'z'" in errors[0].message
    assert "line 7, column 16" in result.reason
    assert "program_source:7:16: error:" in result.feedback()


def test_another_kernel_name_is_a_pipeline_error() -> None:
    result = evaluate("saxpy", HEADER.replace("void saxpy", "void axpy") + "}\n", scale="small")
    assert result.verdict == "pipeline error"
    assert result.compile_ok
    assert not result.pipeline_ok
    assert result.reason == "expected a kernel 'saxpy'; the source defines 'axpy' (is it 'axpy'?)"


def test_an_argument_that_nobody_binds_is_a_pipeline_error() -> None:
    result = evaluate("saxpy", HEADER.replace("buffer(3)", "buffer(7)") + "}\n", scale="small")
    assert result.verdict == "pipeline error"
    assert "at buffer(7), where the task binds nothing; it binds 0 x, 1 y, 2 a, 3 N" in result.reason


def test_an_endless_loop_is_stopped_and_named() -> None:
    result = saxpy("    while (y[i] == y[i]) y[i] = 1.0f;", limits=Limits(run_seconds=2.0))
    assert result.verdict == "timeout"
    assert result.compile_ok
    assert "saxpy" in result.reason
    assert "not run" in result.reason
    assert result.score == 0.0


def test_a_wild_pointer_does_no_harm() -> None:
    result = saxpy("    device float* p = y + (1ul << 40); p[i] = 1.0f;")
    assert result.verdict in ("crash", "fault")
    assert result.compile_ok
    assert "saxpy" in result.reason


def test_checked_mode_names_the_buffer_of_an_access_out_of_bounds() -> None:
    result = saxpy("    y[i] = a * x[i] + y[i] + (x[i + 1] > 1e30f ? 1.0f : 0.0f);", checked=True)
    assert result.verdict == "fault"
    assert "'x'" in result.reason


@pytest.mark.parametrize("checked", [False, True], ids=["timed", "checked"])
@pytest.mark.parametrize(
    ("declarations", "use", "variable"),
    [
        ("threadgroup float row[255];", "row[t] = x[i];", "'row', which has 1020 bytes"),
        ("threadgroup float row[256];", "row[t + 1u] = x[i];", "'row', which has 1024 bytes"),
        ("threadgroup float4 p[256], q[128];", "p[t] = x[i]; q[t >> 1] = x[i]; q[128u + (t >> 5)] = x[i];", "'q'"),
        ("threadgroup float tile[15][16];", "tile[t >> 4][t & 15u] = x[i];", "'tile', which has 960 bytes"),
        ("threadgroup atomic_uint bins[8];",
         "atomic_fetch_add_explicit(&bins[t & 15u], 1u, memory_order_relaxed);", "'bins', which has 32 bytes"),
        ("threadgroup bool flags[3];", "flags[t & 3u] = x[i] > 0.0f;", "'flags', which has 3 bytes"),
        ("threadgroup float row[256];", "threadgroup float* p = row; p += 256; *p = x[i];", "'row'"),
    ],
    ids=["too short", "one on", "second of two", "rows", "bins", "bytes", "pointer"],
)  # fmt: skip
@pytest.mark.parametrize("barrier", ["", "threadgroup_barrier(mem_flags::mem_threadgroup);"], ids=["free", "barrier"])
def test_threadgroup_arrays_that_are_too_short_are_named(
    declarations: str, use: str, variable: str, barrier: str, checked: bool
) -> None:
    result = saxpy(f"    uint t = i & 255u; {declarations} {use} {barrier} y[i] = a * x[i] + y[i];", checked=checked)
    assert result.verdict == "fault"
    assert f"wrote just outside of threadgroup variable {variable}" in result.reason


@pytest.mark.parametrize(
    ("checked", "where"),
    [(False, "just outside of threadgroup variable 'row'"), (True, "to threadgroup memory at byte -4")],
)
def test_a_write_before_a_threadgroup_array_is_found(checked: bool, where: str) -> None:
    result = saxpy(
        "    threadgroup float row[256]; row[int(i & 255u) - 1] = x[i]; y[i] = a * x[i] + y[i];", checked=checked
    )
    assert result.verdict == "fault"
    assert f"wrote {where}" in result.reason


@pytest.mark.parametrize("checked", [False, True], ids=["timed", "checked"])
@pytest.mark.parametrize(
    ("declarations", "use"),
    [
        ("threadgroup float row[256];", "row[t] = x[i];"),
        ("threadgroup uchar small[3]; threadgroup double4_ wide[256];", "small[t % 3u] = 1; wide[t] = {x[i]};"),
        ("threadgroup float all[8192];", "for (uint k = t; k < 8192u; k += 256u) all[k] = x[i];"),
        ("threadgroup float p[4096]; threadgroup float q[4096];",
         "for (uint k = t; k < 4096u; k += 256u) { p[k] = x[i]; q[k] = x[i]; }"),
    ],
    ids=["full", "odd", "all there is", "two halves"],
)  # fmt: skip
def test_threadgroup_memory_may_be_used_to_the_last_byte(declarations: str, use: str, checked: bool) -> None:
    source = HEADER.replace("kernel void", "struct double4_ { float v[8]; };\nkernel void")
    result = evaluate(
        "saxpy", f"{source}    uint t = i & 255u; {declarations} {use} y[i] = a * x[i] + y[i];\n}}\n",
        scale="small", checked=checked,
    )  # fmt: skip
    assert result.verdict == "right", result.reason


@pytest.mark.parametrize("checked", [False, True], ids=["timed", "checked"])
@pytest.mark.parametrize(("other", "own", "verdict"), [(16, 256, "right"), (300, 255, "fault"), (255, 255, "fault")])
def test_each_instantiation_of_a_kernel_has_threadgroup_arrays_of_its_own(
    other: int, own: int, verdict: str, checked: bool
) -> None:
    def named(host_name: str, length: int, tag: int) -> str:
        types = "device const float*, device float*, constant float&, constant uint&, uint"
        return f'template [[host_name("{host_name}")]] kernel void scaled<{length}, {tag}>({types});\n'

    source = HEADER.replace("kernel void saxpy", "template <uint W, int TAG> kernel void scaled")
    source += "    threadgroup float row[W]; row[i & 255u] = x[i]; y[i] = a * row[i & 255u] + y[i];\n}\n"
    source += named("other", other, 0) + named("saxpy", own, 1)
    result = evaluate("saxpy", source, scale="small", checked=checked)
    assert result.verdict == verdict, result.reason
    assert ("'row', which has 1020 bytes" in result.reason) == (verdict == "fault")


def test_an_array_as_long_as_one_kernel_needs_it_is_too_short_for_another() -> None:
    """The kernels of a plan run in the same threadgroup memory, and each declares what it needs of it."""
    source = seed_source(get_task("fft3d"))
    short = "threadgroup float2 line[16];"
    at = source.index("threadgroup float2 line[MAX_N];", source.index("fft3d_y"))
    shorter = source[:at] + short + source[at + len("threadgroup float2 line[MAX_N];") :]
    checked = evaluate("fft3d", shorter, scale="small", checked=True)
    assert checked.verdict == "fault"
    assert "kernel 'fft3d_y' (dispatch 1) wrote just outside of threadgroup variable 'line'" in checked.reason
    everywhere = evaluate("fft3d", source.replace("MAX_N = 1024", "MAX_N = 16"), scale="small")
    assert everywhere.verdict == "fault"
    assert "one of the kernels 'fft3d_x', 'fft3d_y', 'fft3d_z' wrote just outside" in everywhere.reason


def test_checked_mode_finds_a_race() -> None:
    result = evaluate(
        "saxpy",
        HEADER
        + "    y[i] = a * x[i] + (i > 0 ? y[i - 1] : y[i]) * 0.0f + y[i]; y[0] += i == 1 ? y[2] - y[2] : 0;\n}\n",
        scale="small",
        checked=True,
    )
    # Reads what other threads write, but times zero: right in every order.
    assert result.correct
    racy = saxpy(
        "    y[i] = a * x[i] + y[i]; if (i + 1 < N) y[i] += 1e-3f * (y[i + 1] - y[i + 1] * 0.5f);", checked=True
    )
    assert racy.verdict == "wrong"


def test_the_same_seed_gives_the_same_inputs_and_errors() -> None:
    # Zeros are as wrong as the expected values are large, and those depend on the inputs.
    first, second, other = (saxpy("    y[i] = 0.0f;", seed=seed) for seed in (3, 3, 4))
    errors = [[row.error for row in result.configurations] for result in (first, second, other)]
    assert errors[0] == errors[1]
    assert errors[0] != errors[2]
