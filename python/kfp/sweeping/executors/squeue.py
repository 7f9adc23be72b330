"""What squeue says of a user's jobs: it knows of them without accounting, which not every cluster has."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from kfp.sweeping.executors.base import JobState

# A controller serves many users: all jobs of a sweep are asked for in one question, and not more often than this.
SECONDS_BETWEEN_QUESTIONS = 2.0
COMMAND_SECONDS = 30.0
WAITING = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
EXPLANATIONS = {
    "Licenses": "its licence is in use",
    "PartitionDown": "its partition is down",
    "PartitionInactive": "its partition is inactive",
    "PartitionTimeLimit": "asks for more time than its partition gives",
    "JobHeldUser": "held; scontrol release {number} lets it go on",
    "JobHeldAdmin": "held by an administrator",
    "BadConstraints": "no node can ever do what it asks for",
    "ReqNodeNotAvail": "its nodes are not available",
}


@dataclass(frozen=True)
class Entry:
    """A job in the queue: the columns of squeue."""

    number: str
    state: str
    reason: str
    name: str


class Queue:
    """The user's jobs that wait or run. A job that is not among them has ended."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._asked = float("-inf")
        self._answered = float("-inf")
        self._submitted: dict[str, float] = {}

    def submitted(self, number: str) -> None:
        """An answer older than a job says nothing of it."""
        self._submitted[number] = time.monotonic()

    def state(self, number: str) -> JobState:
        self._ask(self._submitted.get(number, float("-inf")))
        if self._answered < self._asked:
            return "unknown"
        entry = self._entries.get(number)
        if entry is None:
            return "ended"
        return "waiting" if entry.state in WAITING else "running"

    def reason(self, number: str) -> str:
        """Why a job waits, in words; empty if it does not."""
        self._ask(float("-inf"))
        entry = self._entries.get(number)
        if entry is None or entry.state not in WAITING:
            return ""
        reason = entry.reason.partition(",")[0].strip("()")
        if reason == "None":
            return "waits"
        explanation = EXPLANATIONS.get(reason, "").format(number=number)
        return f"waits, {reason}" + (f" ({explanation})" if explanation else "")

    def find(self, name: str) -> str | None:
        """The number of the waiting or running job of that name, as far as squeue answers."""
        self._ask(float("-inf"))
        found = [entry.number for entry in self._entries.values() if entry.name == name and entry.state != "COMPLETING"]
        return found[0] if found else None

    def cancel(self, numbers: Sequence[str]) -> None:
        if numbers:
            _call(["scancel", *numbers])

    def _ask(self, since: float) -> None:
        now = time.monotonic()
        if now - self._asked < SECONDS_BETWEEN_QUESTIONS and self._asked > since:
            return
        said = _call(["squeue", f"--user={os.getuid()}", "--noheader", "--format=%i|%T|%r|%j"])
        self._asked = now
        if said is not None:
            self._answered = time.monotonic()
            self._entries = {entry.number: entry for entry in map(_entry, said.splitlines()) if entry is not None}


def _entry(line: str) -> Entry | None:
    cells = line.strip().split("|", 3)
    return Entry(*cells) if len(cells) == 4 else None


def _call(command: list[str]) -> str | None:
    """What a command of Slurm prints; None if it failed, as while the controller is restarted."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
