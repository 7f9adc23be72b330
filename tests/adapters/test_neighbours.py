"""The neighbours' own programs, from start to end as the page in docs/ has it, with a model that is a script.

The task is one with planted values: no byte of what it holds out may be in anything that a search leaves or sends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import kfp
import pytest
from adapters.hostile_programs import GUESS, HANGS
from adapters.planted import NAME, SEED, Planted, leaks, needles
from adapters.scripted_server import Proposer, environment
from kfp.adapters.shinka import look_at_best
from kfp.sweeping.turns import read_log, turns_folder
from kfp.tasks.base import Configuration

pytestmark = pytest.mark.neighbours

PAGE = Path(__file__).resolve().parents[2] / "docs" / "neighbours.md"
BLOCK = re.compile(r"^```(console|python) neighbours\n(.*?)^```$", re.DOTALL | re.MULTILINE)

LINE = "    if (i >= N) return;"
EDITS = (
    f"{LINE}\n    // An edit that changes nothing.",
    f"{LINE}\n    y[i] += 1.0f;",
    f"{LINE}\n{GUESS}",
    None,
    f"{LINE}\n    // Another one.",
)
HELD_OUT = Planted().published_held_out("small")


@dataclass
class Reader:
    """Follows the page: a section's commands and programs in order, with the planted task and the scripted model."""

    folder: Path
    server: Proposer

    def follow(self, section: str) -> Iterator[tuple[str, str]]:
        """Each command or program with what it printed, right after it ended."""
        text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
        for kind, body in BLOCK.findall(text):
            body = body.replace("http://127.0.0.1:8000", self.server.url).replace("saxpy", NAME)
            if kind == "console":
                for line in body.splitlines():
                    yield line, self._run(shlex.split(line.removeprefix("$ ")))
            elif written := [path for path in self.folder.glob("*/eval*.py") if path.read_text() == body]:
                yield body, str(written[0])
            else:
                yield body, self._run(["python", "-c", body])

    def _run(self, words: list[str]) -> str:
        here = Path(sys.executable).parent
        program = {"python": [sys.executable], "kfp": [sys.executable, "-m", "kfp"]}.get(words[0])
        command = [*(program or [str(here / words[0])]), *words[1:]]
        home = self.folder.with_name("home")
        home.mkdir(exist_ok=True)
        done = subprocess.run(
            command, cwd=self.folder, env=environment(home), capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        assert not (home / "outside").exists(), (home / "outside").read_text()
        return done.stdout + done.stderr


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    (tmp_path / "work").mkdir()
    with Proposer(SEED.read_text(), LINE, EDITS) as server:
        yield Reader(tmp_path / "work", server)


def require_no_leak(reader: Reader, printed: Iterable[str], books: Path) -> None:
    """In files, names of files, prompts and output. The books have it all, so what looks for it does find it."""
    gates = [json.loads(path.read_text()) for path in books.rglob("result.json")]
    drawn = [Configuration.from_json({**row, "scale": "small"}) for gate in gates for row in gate["held_out"]]
    assert len(drawn) >= 3 * len(gates) > 0
    patterns = needles([HELD_OUT, *drawn])
    places = [path for path in (*reader.folder.iterdir(), reader.folder.with_name("home")) if path != books]
    told = (reader.server.prompts, "\n".join(printed).encode())
    assert not leaks(patterns, *places, *told, ignoring=GUESS.encode())
    assert len(leaks(patterns, books)) > len(patterns)


def require_same_verdict(program: Path, printed: str) -> None:
    """What the page's ``kfp evaluate`` printed, and what the same says from Python."""
    assert "\nright, score " in printed
    assert kfp.evaluate(NAME, program, scale="small").verdict == "right"


def test_openevolve(reader: Reader) -> None:
    page = reader.follow("OpenEvolve")
    started = next(page)
    configuration = reader.folder / "search" / "config.yaml"
    text = configuration.read_text()
    assert "parallel_evaluations: 1\n" in text
    text = text.replace("parallel_evaluations: 1\n", "parallel_evaluations: 2\n")
    configuration.write_text(f"{text}full_rewrite_probability: 0.5\n")
    searched, evaluated, written, looked = page
    output = reader.folder / "search" / "output"
    best = json.loads((output / "best" / "best_program_info.json").read_text())
    assert best["metrics"]["correct"] == best["metrics"]["compiled"] == 1.0
    require_same_verdict(output / "best" / "best_program.metal", evaluated[1])
    (checkpoint,) = (output / "checkpoints").iterdir()
    programs = [json.loads(path.read_text()) for path in (checkpoint / "programs").glob("*.json")]
    metrics = [program["metrics"] for program in programs]
    assert {0.0, 1.0} == {values["correct"] for values in metrics}
    assert all((values["combined_score"] > 0) == (values["correct"] == 1.0) for values in metrics)
    assert max(values["combined_score"] for values in metrics) == best["metrics"]["combined_score"]
    assert b"Score on planted" in reader.server.prompts
    assert written[1].endswith("search/evaluation.py")
    assert "planted" in looked[1]
    require_no_leak(reader, [text for _, text in (started, searched, evaluated)], reader.folder / "books-of-openevolve")
    marks = [mark.event for log in turns_folder().glob("*.log") for mark in read_log(log)]
    assert marks == ["begin", "end"] * max(len(programs), len(marks) // 2)


@pytest.mark.filterwarnings("ignore")
def test_openevolve_that_waits_for_less_than_an_evaluation_may_take(tmp_path: Path) -> None:
    """It goes on at once, and what it left behind ends by itself and does not disturb the next."""
    from openevolve.config import EvaluatorConfig
    from openevolve.evaluator import Evaluator

    file = tmp_path / "evaluation.py"
    call = f"evaluator({NAME!r}, scale='small', timeout=8)"
    file.write_text(f"from kfp.adapters.openevolve import evaluator\n\nevaluate = {call}\n")
    patience = EvaluatorConfig(timeout=1, cascade_evaluation=False, max_retries=0)
    theirs = Evaluator(patience, str(file), suffix=".metal")
    assert asyncio.run(theirs.evaluate_program(HANGS.decode(), "hangs")) == {"error": 0.0, "timeout": True}
    patience.timeout = 60
    metrics = asyncio.run(theirs.evaluate_program(SEED.read_text(), "right"))
    assert metrics["correct"] == 1.0
    assert theirs.get_pending_artifacts("right")["verdict"].startswith("right, score ")
    assert [mark.event for log in turns_folder().glob("*.log") for mark in read_log(log)][-4:] == ["begin", "end"] * 2


def test_shinka(reader: Reader) -> None:
    started, searched, evaluated, written = reader.follow("ShinkaEvolve")
    results = reader.folder / "results"
    require_same_verdict(results / "best" / "main.cpp", evaluated[1])
    with contextlib.closing(sqlite3.connect(next(results.glob("*.sqlite")))) as database:
        rows = database.execute(
            "SELECT correct, combined_score, public_metrics, text_feedback FROM programs"
        ).fetchall()
    assert len(rows) >= 4
    assert {0, 1} == {correct for correct, *_ in rows}
    assert all((score > 0) == bool(correct) for correct, score, *_ in rows)
    assert b"Score on planted" in reader.server.prompts
    assert written[1].endswith("task/evaluate.py")
    look_at_best(NAME, results, reader.folder / "books", scale="small", processes=3)
    printed = [text for _, text in (started, searched, evaluated)]
    require_no_leak(reader, printed, reader.folder / "books")


def test_inspect(reader: Reader) -> None:
    evaluated, looked = reader.follow("Inspect")
    assert "planted right" in looked[1]
    require_no_leak(reader, [evaluated[1]], reader.folder / "books-of-inspect")
