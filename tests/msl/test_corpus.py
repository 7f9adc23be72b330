"""Every program of the corpus gets the verdict that Apple's compiler gives it, at the right line, in Metal's words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import corpus_cases
import pytest
from kfp import _core

INTERNAL = re.compile(r"__kfp|__global|__local|__private|OpenCL|CLdevice")


@pytest.fixture(scope="module")
def worker(toolchain: _core.Toolchain) -> Iterator[_core.Worker]:
    with _core.Worker("cpu", toolchain, _core.Limits()) as worker:
        yield worker


def errors(report: _core.CompileReport) -> list[_core.Diagnostic]:
    return [d for d in report.diagnostics if d.severity == "error"]


def shown(report: _core.CompileReport) -> str:
    return "\n".join(f"program_source:{d.line}:{d.column}: {d.severity}: {d.message}" for d in report.diagnostics)


@pytest.mark.parametrize("case", corpus_cases.cases(), ids=lambda case: case.name)
def test_small_program(worker: _core.Worker, case: corpus_cases.Case) -> None:
    _, report = worker.compile(case.source, check_only=True)
    if case.verdict == "refuse":
        assert not report.compile_ok
        first = errors(report)[0]
        assert case.line is None or first.line == case.line, shown(report)
        assert case.message is None or case.message in first.message, shown(report)
    else:
        assert report.compile_ok, shown(report)
        refusals = [kernel.pipeline_error for kernel in report.kernels if kernel.pipeline_error]
        if case.verdict == "no pipeline":
            assert refusals
            assert case.message is not None
            assert case.message in refusals[0]
        else:
            assert not refusals
    if "__kfp" not in case.source:
        assert not INTERNAL.search(shown(report)), shown(report)


@pytest.mark.parametrize("path", corpus_cases.programs(), ids=lambda path: path.stem)
def test_larger_program(worker: _core.Worker, path: Path) -> None:
    _, report = worker.compile(path.read_text())
    assert report.compile_ok, shown(report)
    assert report.kernels
    assert not any(kernel.pipeline_error for kernel in report.kernels)
