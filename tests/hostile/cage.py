"""Runs one hostile program and says what became of it; watches over processes that should be gone."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import time
from dataclasses import dataclass

import numpy as np
from kfp import _core

LIMITS = _core.Limits(
    compile_seconds=5.0, run_seconds=2.0, compile_memory_bytes=1 << 30, memory_bytes=1 << 30, output_bytes=1 << 20
)
THREADS = 64
# What a candidate may bring upon itself. A worker that talks nonsense ("protocol") isn't among them.
OUTCOMES = ("compile", "pipeline", "ran", "timeout", "crash", "fault", "memory", "refused", "output")
PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Verdict:
    outcome: str  # compile, pipeline, ran, or the kind of a WorkerFailure
    text: str  # everything that was said
    output: bytes


def attempt(toolchain: _core.Toolchain, source: str, *, checked: bool = False) -> Verdict:
    """Compiles ``source`` and runs its kernel ``attack`` over 64 threads: ``out`` in buffer 0, zeros in buffer 1."""
    with _core.Worker("cpu", toolchain, LIMITS) as worker:
        try:
            library, report = worker.compile(source, checked=checked)
            said = "\n".join(f"{d.line}:{d.column}: {d.severity}: {d.message}" for d in report.diagnostics)
            if not report.compile_ok:
                errors = [d for d in report.diagnostics if d.severity == "error"]
                assert errors, "refused without a reason"
                assert all(d.line > 0 and d.column > 0 for d in errors), f"an error without a place: {said}"
                assert "without a reason" not in said, said
                return Verdict("compile", said, b"")
            execution = worker.prepare(library, _plan(), checked=checked, order_seed=1)
            worker.run(execution)
            return Verdict("ran", said, worker.read(execution, 0).tobytes())
        except _core.PipelineError as error:
            return Verdict("pipeline", str(error), b"")
        except _core.WorkerFailure as failure:
            assert worker.closed
            return Verdict(failure.kind, str(failure), b"")


def _plan() -> _core.Plan:
    return _core.Plan(
        ["attack"],
        [("out", 4 * THREADS, "output", None), ("in", 4 * THREADS, "input", np.zeros(THREADS, np.uint32))],
        [(0, [("buffer", 0, 0, 0), ("buffer", 1, 1, 0)], (THREADS, 1, 1), (32, 1, 1))],
    )


class Cage:
    """Orphans of the workers become children of this process, so that none can hide."""

    def __enter__(self) -> Cage:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        return self

    def __exit__(self, *exc: object) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

    def assert_empty(self) -> None:
        """The dead may still wait to be reaped; a moment is given to those that are being killed."""
        for _ in range(100):
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0] != 0:
                    pass
                time.sleep(0.05)
                continue
            return
        raise AssertionError("a process outlived its worker")
