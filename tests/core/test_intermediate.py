"""The compiler's own text of a program, and libraries that count: what a worker gives, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from kfp import _core

SOURCE = """#include <metal_stdlib>
using namespace metal;
#define TWICE(v) ((v) + (v))
static uint more(uint v) { return TWICE(v) + 1; }
kernel void fill(device uint* out [[buffer(0)]], constant uint& n [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    threadgroup uint shared[64];
    if (i >= n) return;
    shared[i % 64] = more(i);
    out[i] = shared[i % 64];
}
"""


@pytest.fixture
def worker(toolchain: _core.Toolchain) -> Iterator[_core.Worker]:
    with _core.Worker("cpu", toolchain, _core.Limits()) as worker:
        yield worker


def plan() -> _core.Plan:
    bindings = [("buffer", 0, 0, 0), ("bytes", 1, np.uint32(100).tobytes())]
    return _core.Plan(["fill"], [("out", 400, "output", None)], [(0, bindings, (128, 1, 1), (32, 1, 1))])


def test_one_function_per_kernel_is_left_with_all_calls_in_line(worker: _core.Worker) -> None:
    made = worker.intermediate(SOURCE)
    assert made.report.compile_ok
    assert [kernel.name for kernel in made.report.kernels] == ["fill"]
    assert "define internal" in made.program
    defined = [line for line in made.inlined.split("\n") if line.startswith("define ")]
    assert len(defined) == 1
    assert "@__kfp_thread_0(" in defined[0]


def test_every_line_leads_to_the_users_token(worker: _core.Worker) -> None:
    made = worker.intermediate(SOURCE)
    lines = SOURCE.split("\n")
    written = [token for token in made.tokens if token[1] and not token[3] and token[0]]
    assert written
    assert all(lines[line - 1][column - 1 :].startswith(text) for text, line, column, _ in written)
    assert {token for token in made.lines if token is not None} <= set(range(len(made.tokens)))


def test_what_came_out_of_a_macro_has_a_place_in_its_body(worker: _core.Worker) -> None:
    made = worker.intermediate(SOURCE)
    plus = [token for token in made.tokens if token[0] == "+" and token[3]]
    assert len(plus) == 1
    _, line, column, origin = plus[0]
    assert (line, column) == (4, SOURCE.split("\n")[3].index("TWICE") + 1)
    macro, body_line, body_column, parent = made.origins[origin]
    assert (macro, body_line, parent) == ("TWICE", 3, 0)
    assert SOURCE.split("\n")[2][body_column - 1] == "+"


def test_threadgroup_arrays_are_named(worker: _core.Worker) -> None:
    made = worker.intermediate(SOURCE)
    ((token, size),) = made.threadgroup_arrays
    assert token is not None
    assert made.tokens[token][0] == "shared"
    assert size == 256


def test_an_error_is_a_report(worker: _core.Worker) -> None:
    made = worker.intermediate("kernel void f(device float* o [[buffer(0)]]) { o[0] = nothing; }")
    assert not made.report.compile_ok
    assert made.program == made.inlined == ""
    assert [(one.severity, one.line) for one in made.report.diagnostics] == [("error", 1)]


@pytest.mark.parametrize("text", ["this is none", "define void @f() {", "\x01\x02", "!0 = !{"])
def test_a_counting_text_that_is_none_is_refused(worker: _core.Worker, text: str) -> None:
    _, report = worker.compile(SOURCE, checked=True, counting=text, counters=1)
    assert not report.compile_ok
    assert report.diagnostics


def test_a_counting_text_without_the_kernels_can_not_be_run(worker: _core.Worker) -> None:
    library, report = worker.compile(
        SOURCE, checked=True, counting="define void @other() {\n  ret void\n}\n", counters=1
    )
    assert report.compile_ok
    with pytest.raises(_core.WorkerFailure, match="__kfp_thread_0"):
        worker.prepare(library, plan())


def test_too_many_counters_are_refused(worker: _core.Worker) -> None:
    with pytest.raises(_core.Error, match="counters"):
        worker.compile(SOURCE, counting="x", counters=1 << 30)
    assert not worker.closed


def test_no_such_library_has_counts(worker: _core.Worker) -> None:
    with pytest.raises(_core.Error, match="library 3"):
        worker.take_counts(3)


def test_a_sealed_worker_compiles_no_more(worker: _core.Worker) -> None:
    library, _ = worker.compile(SOURCE)
    worker.prepare(library, plan())
    with pytest.raises(_core.WorkerFailure, match="sealed"):
        worker.intermediate(SOURCE)
