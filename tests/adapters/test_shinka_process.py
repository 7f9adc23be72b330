"""What ShinkaEvolve sees of an evaluation: a process, two files, a line."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from adapters import hostile_programs as programs
from adapters.planted_task import NAME, SEED, Planted, leaks, needles
from kfp.adapters.shinka import evaluate, main
from kfp.adapters.shinka.evaluating import UNFINISHED
from kfp.errors import RunError, TaskError
from kfp.sweeping.turns import read_log, turns_folder
from privileges import bound_by_file_modes

SCRIPT = f"""\
from kfp.adapters.shinka import main

main({NAME!r}, scale="small", timeout=60)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "evaluate.py"
    path.write_text(SCRIPT)
    return path


def begin(script: Path, program: Path, results: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(script), "--program_path", str(program), "--results_dir", str(results), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read(results: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    metrics, correct = (
        json.loads((results / f"{name}.json").read_text(), parse_constant=refuse) for name in ("metrics", "correct")
    )
    numbers = [metrics["combined_score"], *metrics["public"].values(), *metrics["private"].values()]
    assert all(type(number) in (int, float) and math.isfinite(number) for number in numbers)
    return metrics, correct


def test_two_at_once(script: Path, tmp_path: Path) -> None:
    running = [begin(script, SEED, tmp_path / f"results-{number}") for number in range(2)]
    for number, process in enumerate(running):
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
        assert out.startswith("right, score ")
        metrics, correct = read(tmp_path / f"results-{number}")
        assert correct == {"correct": True, "error": None}
        assert metrics["combined_score"] > 0
        assert metrics["public"]["right_configurations"] == metrics["public"]["configurations"] == 2
        assert "Score on planted" in metrics["text_feedback"]
    marks = [mark.event for log in turns_folder().glob("*.log") for mark in read_log(log)]
    assert marks == ["begin", "end"] * max(2, len(marks) // 2)


@pytest.mark.parametrize("what", ["wrong", "latin-1", "guesses"])
def test_a_bad_program_is_a_zero_with_a_reason(tmp_path: Path, what: str) -> None:
    data = {**programs.BAD, **programs.UNREADABLE, "guesses": programs.GUESSES}[what]
    (tmp_path / "main.cpp").write_bytes(data)
    results = tmp_path / "results"
    found = evaluate(NAME, tmp_path / "main.cpp", results, scale="small")
    metrics, correct = read(results)
    assert metrics["combined_score"] == 0.0
    assert correct == {"correct": False, "error": found.summary}
    assert not leaks(needles([Planted().published_held_out("small")]), results)


def test_who_kills_an_evaluation_finds_a_reason_and_leaves_nothing_behind(script: Path, tmp_path: Path) -> None:
    program, results = tmp_path / "main.cpp", tmp_path / "results"
    program.write_bytes(programs.HANGS)
    process = begin(script, program, results)
    while not (workers := children(process.pid)) and process.poll() is None:
        time.sleep(0.02)
    assert workers
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    metrics, correct = read(results)
    assert metrics["combined_score"] == 0.0
    assert correct == {"correct": False, "error": UNFINISHED}
    for _ in range(500):
        if not any(is_alive(pid) for pid in workers):
            return
        time.sleep(0.02)
    raise AssertionError(f"{workers} outlive the evaluation")


def children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]


def is_alive(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_a_result_of_an_earlier_attempt_does_not_survive(tmp_path: Path) -> None:
    evaluate(NAME, SEED, tmp_path, scale="small")
    with pytest.raises(TaskError):
        evaluate("nothing", SEED, tmp_path, scale="small")
    metrics, correct = read(tmp_path)
    assert metrics["combined_score"] == 0.0
    assert not correct["correct"]
    assert "nothing" in correct["error"]


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_evaluated(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    os.chmod(folder, 0o500)
    with bound_by_file_modes(), pytest.raises(RunError, match="results"):
        evaluate(NAME, SEED, folder, scale="small")
    (tmp_path / "main").write_text("")
    with pytest.raises(RunError, match="main"):
        evaluate(NAME, SEED, tmp_path / "main", scale="small")


@pytest.mark.parametrize("more", [("--seed", "4"), ("--program", "x")])
def test_arguments_that_it_does_not_know_are_not_dropped(
    more: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(NAME, ["--program_path", str(SEED), "--results_dir", str(tmp_path / "results"), *more], scale="small")
    assert stop.value.code == 2
    assert more[0] in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_wrong_usage_ends_in_a_line(script: Path, tmp_path: Path) -> None:
    process = begin(script, tmp_path / "none.cpp", tmp_path / "results")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err.startswith("kfp: ")
    assert len(err.splitlines()) == 1
    assert read(tmp_path / "results")[1]["correct"] is False
