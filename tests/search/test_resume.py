"""Runs that are killed, that find no room, no permission, another version or another format."""

from __future__ import annotations

import json
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from kfp import Run, RunError
from kfp.runs.files import write
from kfp.runs.folder import RunReader, RunWriter
from kfp.runs.index import Index
from kfp.search.evolution import evolve
from privileges import bound_by_file_modes
from search.killed import TEXTS
from search.scripted import ByComment, Scripted

SCRIPT = Path(__file__).parent / "killed.py"


def start(folder: Path, log: Path, *more: str, **options: Any) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, str(SCRIPT), str(folder), str(log), *more]
    return subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)


def state(folder: Path) -> list[Any]:
    """All that does not depend on how long something took, as the best score does."""
    run = Run(folder)
    candidates = [
        (record.number, record.promoted, record.incumbent_sha256, c.decision, c.answer, c.source_sha256, c.usage)
        for record in run.iterations
        for c in record.candidates
    ]
    finale = run.finale
    assert finale is not None
    first = finale.finalists[0]
    return [candidates, run.incumbent, (first.name, first.source_sha256), run.totals.usage]


def answered(folder: Path) -> set[str]:
    files = folder.glob("iterations/*/reply-*.json")
    return {f"{int(file.parent.name)}.{file.stem.partition('-')[2]}" for file in files}


def kill_until_complete(tmp_path: Path, kills: int, rng: random.Random) -> int:
    """Runs one search, killing its process at random moments; returns how often."""
    folder, log = tmp_path / "run", tmp_path / "asked.log"
    killed = 0
    while True:
        before = answered(folder) if folder.exists() else set()
        asked = len(log.read_text().split()) if log.exists() else 0
        process = start(folder, log)
        try:
            _, complaint = process.communicate(timeout=rng.uniform(0.4, 2.5) if killed < kills else 120)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += 1
        else:
            assert process.returncode == 0, complaint.decode()
        again = set(log.read_text().split()[asked:]) & before if log.exists() else set()
        assert not again, f"asked again for what was on disk: {again}"
        if process.returncode == 0:
            return killed


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    folder = tmp_path_factory.mktemp("undisturbed")
    evolve(
        "saxpy", model=Scripted(TEXTS), iterations=len(TEXTS), scale="small", out=folder / "run", referee=ByComment()
    )
    return state(folder / "run")


def test_killed_again_and_again_it_ends_in_the_same_state(tmp_path: Path, undisturbed: list[Any]) -> None:
    kill_until_complete(tmp_path, 6, random.Random(1))
    assert state(tmp_path / "run") == undisturbed
    assert sorted((tmp_path / "asked.log").read_text().split())[-1] == f"{len(TEXTS)}.1"
    assert not list((tmp_path / "run").rglob("*.tmp"))


@pytest.mark.full
def test_fifty_kills(tmp_path: Path, undisturbed: list[Any]) -> None:
    rng, killed, number = random.Random(2), 0, 0
    while killed < 50:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        killed += kill_until_complete(folder, 50, rng)
        assert state(folder / "run") == undisturbed


def test_interrupted_it_leaves_what_is_complete(tmp_path: Path) -> None:
    folder, log = tmp_path / "run", tmp_path / "asked.log"
    process = start(folder, log)
    deadline = time.monotonic() + 60
    while not (folder / "iterations/0002/record.json").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    done = sum(1 for _ in RunReader(folder).iterations())
    assert done >= 2
    (row,) = Index().rows()
    assert (row.path, row.status) == (str(folder), "stopped")
    assert not list(folder.glob("*.tmp"))


def test_a_killed_run_is_listed_as_stopped_and_one_at_work_as_running(tmp_path: Path) -> None:
    folder, log = tmp_path / "run", tmp_path / "asked.log"
    process = start(folder, log)
    deadline = time.monotonic() + 60
    while not (folder / "iterations/0001/record.json").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert [row.status for row in Index().rows()] in (["stopped"], [])
    with RunWriter(folder) as writer:
        Index().update(writer, len(TEXTS), "running")
        assert [row.status for row in Index().rows()] == ["running"]
    assert [row.status for row in Index().rows()] == ["stopped"]


# Above what saxpy's buffers need, below the room for an answer of so many tokens.
ROOM, TOKENS = 5 << 20, "1000000"


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


def test_no_room_for_an_answer_is_said_before_it_is_paid_for(tmp_path: Path) -> None:
    folder, log = tmp_path / "run", tmp_path / "asked.log"
    process = start(folder, log, TOKENS, preexec_fn=limit_files)
    _, complaint = process.communicate(timeout=120)
    assert process.returncode == 1
    assert b"RunError" in complaint
    assert b"nothing recorded is lost" in complaint
    assert not log.exists()
    # With room again it goes on.
    process = start(folder, log, TOKENS)
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert len(log.read_text().split()) == len(TEXTS)


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    model = Scripted(["x"])
    with bound_by_file_modes(), pytest.raises(RunError, match="permission"):
        evolve("saxpy", model=model, iterations=1, scale="small", out=locked / "run", referee=ByComment())
    assert not model.requests


def test_a_folder_with_something_else_in_it(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunError, match=r"expected a run or an empty folder, it holds 'thesis\.tex'"):
        evolve("saxpy", model=Scripted(["x"]), iterations=1, scale="small", out=tmp_path, referee=ByComment())
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def damaged(folder: Path, file: str, change: dict[str, Any]) -> None:
    path = folder / file
    write(path, json.dumps({**json.loads(path.read_text()), **change}))


@pytest.fixture
def small_run(tmp_path: Path) -> Path:
    evolve("saxpy", model=Scripted(["x"]), iterations=1, scale="small", out=tmp_path, referee=ByComment())
    return tmp_path


@pytest.mark.parametrize(
    ("version", "words"),
    [(2, "made by a newer kfp"), (0, "made by a different kfp"), (None, "different"), ("1", "different")],
)
def test_another_format_is_refused(version: object, words: str, small_run: Path) -> None:
    damaged(small_run, "run.json", {"format": version})
    with pytest.raises(RunError, match=words):
        Run(small_run)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"number": 1}', "\0"])
def test_a_damaged_record_is_refused_with_its_path(text: str, small_run: Path) -> None:
    file = small_run / "iterations/0001/record.json"
    file.write_text(text)
    with pytest.raises(RunError, match=r"0001/record\.json"):
        list(Run(small_run).iterations)


def test_no_run_at_all(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no run\.json"):
        Run(tmp_path)
