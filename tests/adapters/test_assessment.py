"""What is told of a program: kfp's own verdict, in finite numbers, with nothing held out in the words."""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import kfp
import pytest
from adapters import hostile_programs as programs
from adapters.planted_task import NAME, SEED, Planted, leaks, needles
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.adapters.shared.assessment import Assessment, Assessor
from kfp.adapters.shared.briefing import RULES, brief, starting_program
from kfp.errors import DeviceUnavailable, LeakError, TaskError, UsageError
from kfp.search.leaks import Guard
from kfp.tasks import all_tasks
from kfp.tasks.base import Demand

HELD_OUT = needles([Planted().published_held_out("small")])


@pytest.fixture(scope="module")
def assessor() -> Assessor:
    return Assessor(NAME, scale="small")


def program(folder: Path, data: bytes) -> Path:
    path = folder / "program.metal"
    path.write_bytes(data)
    return path


def require_nothing(found: Assessment) -> None:
    assert not found.correct
    assert found.score == 0.0
    assert found.reason
    assert "0." in found.feedback
    assert Assessment.from_json(found.to_json()) == found


def test_a_right_program_is_what_kfp_evaluate_says(assessor: Assessor) -> None:
    found, expected = assessor.assess_file(SEED), kfp.evaluate(NAME, SEED, scale="small")
    assert (found.verdict, found.correct, found.source_sha256) == ("right", True, expected.source_sha256)
    assert (found.right, found.configurations) == (2, 2)
    assert found.score > 0
    assert "Score on planted" in found.feedback
    assert Assessment.from_json(found.to_json()) == found


@pytest.mark.parametrize("what", programs.UNREADABLE)
def test_what_is_no_text_is_refused(assessor: Assessor, tmp_path: Path, what: str) -> None:
    found = assessor.assess_file(program(tmp_path, programs.UNREADABLE[what]))
    require_nothing(found)
    assert found.verdict == "refused"
    assert str(tmp_path) not in found.feedback


@pytest.mark.parametrize("what", [*programs.WITHOUT_A_KERNEL, *programs.BAD])
def test_the_verdict_on_a_bad_program_is_kfp_evaluates(assessor: Assessor, tmp_path: Path, what: str) -> None:
    data = {**programs.WITHOUT_A_KERNEL, **programs.BAD}[what]
    path = program(tmp_path, data)
    found, expected = assessor.assess_file(path), kfp.evaluate(NAME, path, scale="small")
    require_nothing(found)
    assert (found.verdict, found.compiled) == (expected.verdict, expected.compile_ok)


def test_a_kernel_that_hangs_is_ended_in_time() -> None:
    started = time.monotonic()
    found = Assessor(NAME, scale="small", timeout=4.0).assess(programs.HANGS.decode())
    require_nothing(found)
    assert found.verdict == "timeout"
    assert time.monotonic() - started < 60


class SlowToCheck(Planted):
    """Its references take most of the time that an evaluation has."""

    def reference(self, *arguments):  # type: ignore[no-untyped-def]
        time.sleep(0.6)
        return super().reference(*arguments)


def test_an_evaluation_that_takes_too_long_ends_between_two_configurations() -> None:
    found = Assessor(SlowToCheck(), scale="small", timeout=1.0).assess(SEED.read_text())
    require_nothing(found)
    assert found.verdict == "timeout"
    assert "stopped before configuration" in found.reason


FORKED = f"""\
import os, sys
from kfp.adapters.shared.assessment import Assessor

assessor = Assessor({NAME!r}, scale="small")
with assessor._turns():
    if os.fork() == 0:
        os.close(1)
        sys.stdin.read()
        os._exit(0)
print(assessor.assess_file({str(SEED)!r}).verdict)
"""


def test_a_pool_forked_during_an_evaluation_does_not_keep_the_device() -> None:
    """OpenEvolve forks its workers while an evaluation that it no longer waits for may still have its turn."""
    command = [sys.executable, "-c", FORKED]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        patience = threading.Timer(60, process.kill)
        patience.start()
        verdict = process.stdout.readline()
        patience.cancel()
    assert verdict == "right\n"


def test_what_a_program_guesses_is_not_confirmed(assessor: Assessor) -> None:
    found = assessor.assess(programs.GUESSES.decode())
    require_nothing(found)
    assert leaks(HELD_OUT, programs.GUESSES)
    assert not leaks(HELD_OUT, str(found.to_json()).encode())
    assert "[withheld]" in found.feedback


@settings(max_examples=20)
@given(st.binary(max_size=200))
def test_any_bytes_get_a_verdict(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        require_nothing(Assessor(NAME, scale="small").assess_file(program(Path(folder), data)))


def test_a_file_that_is_not_there_is_the_callers_fault(assessor: Assessor, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        assessor.assess_file(tmp_path / "none.metal")
    with pytest.raises(UsageError, match="cannot be read"):
        assessor.assess_file(tmp_path)


class WithoutACeiling(Planted):
    def demands(self, *arguments):  # type: ignore[no-untyped-def]
        return ()


def test_a_right_program_that_cannot_be_scored_is_no_zero() -> None:
    with pytest.raises(UsageError, match="no score"):
        Assessor(WithoutACeiling(), scale="small").assess(SEED.read_text())


class Unlimited(Planted):
    def demands(self, *arguments):  # type: ignore[no-untyped-def]
        return (Demand("dram", math.inf),)


def test_a_score_that_is_not_finite_is_refused() -> None:
    with pytest.raises(UsageError, match="no score"):
        Assessor(Unlimited(), scale="small").assess(SEED.read_text())


@pytest.mark.parametrize(
    ("task", "options", "error"),
    [
        ("nothing", {}, TaskError),
        ("saxpy", {"scale": "tiny"}, UsageError),
        ("saxpy", {"math": "exact"}, UsageError),
        ("saxpy", {"device": "abacus"}, UsageError),
        ("saxpy", {"device": "cuda"}, DeviceUnavailable),
        ("saxpy", {"timeout": 0}, UsageError),
        ("saxpy", {"timeout": math.nan}, UsageError),
    ],
)
def test_what_cannot_work_is_said_at_once(task: str, options: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        Assessor(task, **options)  # type: ignore[arg-type]


class Talkative(Planted):
    brief = Planted.brief + "\nAt the end it is run 11 steps with N = 61357."


def test_a_brief_that_gives_something_away_starts_no_search() -> None:
    with pytest.raises(LeakError):
        Assessor(Talkative(), scale="small")
    with pytest.raises(LeakError):
        brief(Talkative(), "small")


@pytest.mark.parametrize("scale", ["small", "full"])
def test_what_models_are_told_of_a_task_holds_nothing_held_out(scale: kfp.tasks.base.Scale) -> None:
    for task in all_tasks():
        guard = Guard(task, scale)
        guard.require_clean(RULES, "rules")
        told = brief(task, scale)
        guard.require_clean(told, "brief")
        guard.require_clean(starting_program(task), "starting program")
        assert all(point.label in told for point in task.configurations(scale))
        assert task.kernels[0].signature in told


def test_the_starting_program_is_the_seed_between_the_markers() -> None:
    lines = starting_program("saxpy").splitlines()
    assert (lines[0], lines[-1]) == ("// EVOLVE-BLOCK-START", "// EVOLVE-BLOCK-END")
    assert "\n".join(lines[1:-1]) == kfp.seed_source(kfp.tasks.get_task("saxpy")).strip()
    assert kfp.evaluate("saxpy", starting_program("saxpy"), scale="small").correct
