"""Follows the page on neighbours with their own programs, a task with planted values, and a model that is a script.

No byte of what the task holds out may be in anything that a search leaves or sends.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import kfp
from adapters.hostile_programs import GUESS
from adapters.planted_task import NAME, Planted, leaks, needles
from adapters.scripted_server import Proposer, environment
from kfp.tasks.base import Configuration

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
            command, cwd=self.folder, env=environment(home), capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        assert not (home / "outside").exists(), (home / "outside").read_text()
        return done.stdout + done.stderr


def require_no_leak(reader: Reader, printed: Iterable[str], books: Path | None = None) -> None:
    """In files, names of files, prompts and output. The books have it all, so what looks for it does find it."""
    gates = [json.loads(path.read_text()) for path in books.rglob("result.json")] if books else []
    drawn = [Configuration.from_json({**row, "scale": "small"}) for gate in gates for row in gate["held_out"]]
    patterns = needles([HELD_OUT, *drawn])
    places = [path for path in (*reader.folder.iterdir(), reader.folder.with_name("home")) if path != books]
    told = (reader.server.prompts, "\n".join(printed).encode())
    found = leaks(patterns, *places, *told, ignoring=GUESS.encode())
    assert not found, found
    if books is not None:
        assert len(drawn) > 3
        assert len(leaks(patterns, books)) > len(patterns)


def require_same_verdicts(programs: Iterable[tuple[str, bool]]) -> None:
    """Sources with whether they were called right: some are, some are not, and ``kfp.evaluate`` says the same."""
    found = dict(programs)
    assert set(found.values()) == {True, False}
    for source, right in found.items():
        evaluation = kfp.evaluate(NAME, source, scale="small")
        assert evaluation.correct == right, f"{evaluation}\n{source}"
