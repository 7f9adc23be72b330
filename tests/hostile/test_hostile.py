"""No program escapes, none takes the host down, each gets its verdict."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hostile.cage import LIMITS, Cage, attempt
from hostile.programs import ALL, BENIGN, Program
from kfp import _core

SECRET = "c4nary-6e1f0b"


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    path = tmp_path / "canary.txt"
    path.write_text(f'"{SECRET}"\n')
    return path


@pytest.mark.parametrize("checked", [False, True], ids=["plain", "checked"])
@pytest.mark.parametrize("program", ALL, ids=lambda program: program.name)
def test_contained(program: Program, checked: bool, canary: Path, toolchain: _core.Toolchain, cage: Cage) -> None:
    before = canary.stat()
    verdict = attempt(toolchain, program.source.replace("{canary}", str(canary)), checked=checked)
    assert verdict.outcome in program.outcomes, verdict
    assert program.says in verdict.text
    assert SECRET not in verdict.text
    assert SECRET.encode() not in verdict.output
    assert canary.read_text() == f'"{SECRET}"\n'
    assert os.listdir(canary.parent) == [canary.name]
    assert canary.stat().st_mtime_ns == before.st_mtime_ns
    cage.assert_empty()


@pytest.mark.parametrize("name", ["has-include", "has-include-spliced", "has-embed"])
def test_existence_of_a_file_is_no_secret_told(
    name: str, canary: Path, tmp_path: Path, toolchain: _core.Toolchain, cage: Cage
) -> None:
    source = next(program.source for program in ALL if program.name == name)
    there = attempt(toolchain, source.replace("{canary}", str(canary)))
    absent = attempt(toolchain, source.replace("{canary}", str(tmp_path / "nothing")))
    assert (there.outcome, there.output) == (absent.outcome, absent.output)
    cage.assert_empty()


def test_a_plain_kernel_still_runs_afterwards(toolchain: _core.Toolchain, cage: Cage) -> None:
    verdict = attempt(toolchain, BENIGN)
    assert verdict.outcome == "ran"
    assert np.frombuffer(verdict.output, dtype=np.uint32).tolist() == [0] * 64
    cage.assert_empty()


def test_source_that_is_not_utf_8(toolchain: _core.Toolchain, cage: Cage) -> None:
    with _core.Worker("cpu", toolchain, LIMITS) as worker:
        _, report = worker.compile(b"kernel void k() { \xff\xfe\x80 }")  # type: ignore[arg-type]
        assert not report.compile_ok
        assert all(d.message.isprintable() for d in report.diagnostics)
    cage.assert_empty()


def test_the_programs_have_different_names() -> None:
    names = [program.name for program in ALL]
    assert len(set(names)) == len(names)
