"""The demo from the command line to the held-out configuration, with the real referee."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from kfp import Run
from kfp.search.models.demo import DemoModel
from kfp.tasks import all_tasks, get_task


@pytest.mark.parametrize("task", [task.name for task in all_tasks("sci")])
def test_every_task_of_the_suite_has_a_script(task: str) -> None:
    assert DemoModel(get_task(task)).script_length == 4


@pytest.mark.full
@pytest.mark.parametrize("task", ["hmc", "saxpy"])
def test_the_whole_story(task: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kfp", "evolve", task, "--model", "demo", "--out", str(tmp_path / "run")]
    process = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert process.returncode == 0, process.stderr
    run = Run(tmp_path / "run")
    candidates = [record.candidates[0] for record in run.iterations]
    assert [candidate.decision for candidate in candidates[:2]] == ["invalid", "wrong"]
    # How fast the others are is the machine's affair; right they are everywhere.
    for candidate in candidates[2:]:
        assert candidate.evaluation is not None
        assert candidate.evaluation.correct
    finale = run.finale
    assert finale is not None
    assert all(finalist.held_out.verdict != "wrong" for finalist in finale.finalists)
    assert process.stdout.splitlines()[0].startswith(f"{task} by demo on")
