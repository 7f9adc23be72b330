"""Sweeps that cost little, processes that drive them, and what there is to say of one without a word of a clock."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from kfp import Run
from kfp.search.models.base import Reply, Usage
from kfp.sweeping.executors.base import JobState
from kfp.sweeping.worker import run_unit
from search.scripted import UNCOMPILED, WRONG, fenced

# One that is no kernel, one that does not compile and one that is wrong: none is ever timed against another.
REPLIES = ("I would rather not.", fenced(UNCOMPILED), fenced(WRONG))


def record(folder: Path, texts: Sequence[str] = REPLIES) -> str:
    """Answers as a run leaves them; the name of the model that gives them again."""
    for number, text in enumerate(texts, start=1):
        reply = Reply("recorded", text, "", "end", "", Usage(100, 0, 0, 50, 0), 0.0, 1, 0, f"{number}")
        file = folder / f"iterations/{number:04d}/reply-1.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(reply.to_json()))
    return f"replay/{folder.name}"


def write_spec(file: Path, **keys: Any) -> Path:
    """A spec as TOML; ``arms`` last, since tables come after keys."""
    arms = keys.pop("arms", [])
    lines = [f"{name} = {json.dumps(value)}" for name, value in keys.items()]
    for arm in arms:
        lines += ["", "[[arms]]", *(f"{name} = {json.dumps(value)}" for name, value in arm.items())]
    file.write_text("\n".join(lines) + "\n")
    return file


def start_driver(spec: Path, *options: str, **more: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "kfp", "sweep", str(spec), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def finish(driver: subprocess.Popen[str], seconds: float = 300) -> str:
    """Waits for the end; a driver that does not end in order is a failure of the test."""
    printed, said = driver.communicate(timeout=seconds)
    assert driver.returncode == 0, f"{driver.returncode}\n{printed}\n{said}"
    return printed


def leases(sweep: Path) -> list[dict[str, Any]]:
    """As they lie there; one that is being replaced right now is left out."""
    found = []
    for file in sorted(sweep.glob("units/*/lease-*.json")):
        try:
            found.append({**json.loads(file.read_text()), "unit": file.parent.name})
        except (OSError, ValueError):
            continue
    return found


def workers(sweep: Path) -> list[int]:
    """The processes that hold a lease now, by the system's word."""
    pids = {lease["owner"]["pid"] for lease in leases(sweep) if not lease["outcome"]}
    return sorted(pid for pid in pids if "kfp.sweeping.worker" in command_of(pid))


def command_of(pid: int) -> str:
    if sys.platform == "linux":
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    asked = subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return asked.stdout.strip()


def kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def facts(sweep: Path) -> dict[str, Any]:
    """Of each unit by its key: what it is, what was proposed and found right or wrong, and that it is done.

    Left out is whatever a clock decides: times, ratios, what is promoted for them, prompts (which tell times), and the
    draws of gates, whose seeds are random.
    """
    # A driver that was killed may have left a file there.
    return {folder.name: _facts_of(folder) for folder in sorted((sweep / "units").iterdir()) if folder.is_dir()}


def _facts_of(unit: Path) -> dict[str, Any]:
    run = Run(unit / "run")
    told = json.loads((unit / "unit.json").read_text())["unit"]
    spec = run.spec.to_json()
    assert {name: told[name] for name in ("task", "model", "replicate", "seed")} == {
        name: spec[name] for name in ("task", "model", "replicate", "seed")
    }
    candidates = []
    for iteration in run.iterations:
        for candidate in iteration.candidates:
            found = candidate.evaluation
            verdict = None if found is None else (found.compile_ok, found.pipeline_ok, found.correct, found.verdict)
            # The cheapest configuration comes first, and the first that is wrong ends it: which one, a clock decides.
            right = found is not None and found.correct
            labels = tuple((row.label, row.correct) for row in found.configurations) if found and right else None
            decision = "" if right else candidate.decision
            candidates.append(
                (
                    iteration.number,
                    candidate.number,
                    candidate.source_sha256,
                    candidate.answer,
                    verdict,
                    labels,
                    decision,
                )
            )
    done = json.loads((unit / "done.json").read_text())["done"]
    finale = run.finale
    return {
        "unit": {name: value for name, value in told.items() if name != "base"},
        "spec": spec,
        "candidates": candidates,
        "start": run.reader.start_evaluation().verdict,  # type: ignore[union-attr]
        "measured again": [one.source_sha256 for one in finale.finalists if one.name == "best by score"]
        if finale
        else [],
        "done": (done["key"], done["iterations"]),
        "beside": sorted(e.name for e in unit.iterdir() if not e.name.startswith(("lease", "worker.log"))),
        "leftovers": sorted(str(e.relative_to(unit)) for e in (unit / "run").rglob("*.tmp")),
    }


class EndedJob:
    """Of a worker that had ended before anybody asked."""

    def state(self) -> JobState:
        return "ended"

    def cancel(self) -> None:
        """Nothing is left to be stopped."""

    def describe(self) -> str:
        return "this process"


class HereAndNow:
    """An executor for units that take no time: each is done within this process before ``start`` returns."""

    name = "here"
    capacity: int | None = 1

    def start(self, unit: Path, device: str) -> EndedJob:
        before = os.getcwd()
        try:
            run_unit(unit)
        finally:
            os.chdir(before)
        return EndedJob()

    def close(self, cancel: bool) -> None:
        """Nothing is held."""


class DeviceWatch:
    """Looks which sessions have a process of a device, again and again, by the system's list of processes alone.

    ``together``: pairs of sessions that were seen at the same moment.
    """

    def __init__(self, name: str = "kfp-worker", every: float = 0.03) -> None:
        self.together: set[tuple[int, int]] = set()
        self.seen: set[int] = set()
        self._name, self._every = name, every
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> DeviceWatch:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(self._every):
            first = processes_called(self._name)
            # Those of the first look that are there at the second were there between them, all at once.
            second = processes_called(self._name) if len(set(first.values())) > 1 else first
            there = sorted({session for pid, session in first.items() if second.get(pid) == session})
            self.seen.update(there)
            self.together.update((a, b) for a in there for b in there if a < b)


def processes_called(name: str) -> dict[int, int]:
    """The session of each process of this name that has not ended, by its number."""
    if sys.platform == "linux":
        # As ps does it, for a tenth of the cost.
        pids = [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]
        found = {pid: _session(pid, name) for pid in pids}
        return {pid: session for pid, session in found.items() if session is not None}
    asked = subprocess.run(["ps", "-axo", "pid=,stat=,comm="], capture_output=True, text=True, check=True)
    sessions = {}
    for pid, state, path in (line.split(None, 2) for line in asked.stdout.splitlines()):
        if Path(path).name == name and state[0] != "Z":
            with contextlib.suppress(OSError):
                sessions[int(pid)] = os.getsid(int(pid))
    return sessions


def _session(pid: int, name: str) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    head, _, rest = text.rpartition(")")
    fields = rest.split()
    return int(fields[3]) if head.endswith(f"({name}") and fields[0] not in "ZX" else None


def overlaps(log: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Turns that begin before an earlier one has ended. One that has no end was a killed process's: the next one's
    begin says that the lock was free.
    """
    marks = [json.loads(line) for line in log.read_text().splitlines()]
    wrong, current = [], None
    for mark in sorted(marks, key=lambda mark: mark["seconds"]):
        if mark["event"] == "begin":
            if current is not None and alive_at(marks, current, mark["seconds"]):
                wrong.append((current, mark))
            current = mark
        elif current is not None and mark["pid"] == current["pid"]:
            current = None
        else:
            wrong.append((mark, mark))
    return wrong


def alive_at(marks: Sequence[dict[str, Any]], turn: dict[str, Any], seconds: float) -> bool:
    """Whether the process of a turn has left a word after this moment."""
    return any(m["pid"] == turn["pid"] and m["unit"] == turn["unit"] and m["seconds"] > seconds for m in marks)


def wait_for(condition: Any, seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return found
