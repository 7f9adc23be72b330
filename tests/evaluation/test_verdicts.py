"""Whatever a kernel does, the answer is a verdict that says what and where."""

from __future__ import annotations

import pytest
from kfp import Evaluation, Limits, evaluate
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
