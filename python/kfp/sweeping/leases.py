"""Who works on a unit: numbered leases, each a file that only one process can create.

A lease is renewed by touching its file. Generation N + 1 may be taken when lease N was released, was not renewed for
its time, or belongs to a process of this machine that is dead. The number is a fence: whoever is not the holder of the
highest one has lost the unit, whatever it believes. Times are those of the file system, which all machines share.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
import secrets
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from kfp.errors import ResultFormatError
from kfp.records import Record
from kfp.runs.files import TEMPORARY, linked, refusals, write_json
from kfp.sweeping.processes import Owner, this_process

_NAME = re.compile(r"lease-(\d{4,})\.json")
# What a damaged lease is taken to say.
_UNREADABLE_SECONDS = 60.0

Standing: TypeAlias = Literal["free", "held", "over"]
# "": held, or lost without a word.
Outcome: TypeAlias = Literal["", "done", "failed", "stopped"]


@dataclass(frozen=True, eq=False)
class LeaseRecord(Record):
    """The content of a lease's file."""

    owner: Owner
    taken: str
    lease_s: float
    outcome: Outcome


@dataclass(frozen=True)
class Found:
    """A lease as it lies there. ``record`` is None for a file that can't be read; ``renewed``: by the file system."""

    generation: int
    record: LeaseRecord | None
    renewed: float

    def standing(self, now: float) -> Standing:
        if self.record is not None:
            if self.record.outcome:
                return "free"
            if self.orphaned:
                return "over"
        return "over" if now - self.renewed > self.allowed else "held"

    @property
    def allowed(self) -> float:
        """Seconds that it lasts without being renewed."""
        return self.record.lease_s if self.record is not None else _UNREADABLE_SECONDS

    @property
    def orphaned(self) -> bool:
        """Whether its owner is known to be dead."""
        return self.record is not None and self.record.owner.life() == "dead"

    @property
    def lost(self) -> bool:
        """Whether nobody said how it ended; of the newest lease that means held, or lost."""
        return self.record is None or not self.record.outcome


def lease_file(unit: Path, generation: int) -> Path:
    return unit / f"lease-{generation:04d}.json"


def generations(unit: Path) -> list[int]:
    with refusals(unit):
        names = [entry.name for entry in unit.iterdir()]
    return sorted(int(match[1]) for name in names if (match := _NAME.fullmatch(name)))


def newest(unit: Path) -> Found | None:
    known = generations(unit)
    return found(unit, known[-1]) if known else None


def found(unit: Path, generation: int) -> Found:
    """Opened before it is asked for its date: that is when a network file system looks for a newer one."""
    path = lease_file(unit, generation)
    with refusals(path), path.open("rb") as file:
        renewed = os.fstat(file.fileno()).st_mtime
        text = file.read()
    try:
        return Found(generation, LeaseRecord.from_json(json.loads(text)), renewed)
    except (ValueError, ResultFormatError):
        return Found(generation, None, renewed)


class Watcher:
    """Sees leases again and again, and so does without trust in clocks.

    A machine that wakes up gets a moment to renew what looks to be over; what is not renewed for its time is over,
    though a clock that was set back may show it renewed in the future.
    """

    def __init__(self) -> None:
        self._seen: dict[Path, tuple[int, float, float]] = {}

    def standing(self, unit: Path, lease: Found, now: float) -> Standing:
        seen = self._seen.get(unit)
        if seen is None or seen[:2] != (lease.generation, lease.renewed):
            seen = self._seen[unit] = (lease.generation, lease.renewed, time.monotonic())
        unchanged = time.monotonic() - seen[2]
        standing = lease.standing(now)
        if standing == "over" and unchanged < lease.allowed / 4 and not lease.orphaned:
            return "held"
        return "over" if standing == "held" and unchanged > lease.allowed else standing


def take(unit: Path, lease_s: float) -> Lease | None:
    """The next lease of a unit; None while somebody else holds it, or was quicker.

    A lease that seems to be renewed in the future, because a clock was set back, is watched for its time instead.
    """
    owner = this_process()
    taken = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    record = LeaseRecord(owner, taken, lease_s, "")
    temporary = unit / f"lease.{owner.token}{TEMPORARY}"
    with refusals(unit):
        try:
            write_json(temporary, record.to_json())
            now = temporary.stat().st_mtime
            last = newest(unit)
            if last is not None and last.standing(now) == "held" and not _unchanging(unit, last, now):
                return None
            generation = last.generation + 1 if last is not None else 1
            if not linked(temporary, lease_file(unit, generation)):
                return None
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()
    if last is not None and last.lost and last.record is not None:
        # Stopped, or hung: it would go on holding this machine's device.
        last.record.owner.end()
    lease = Lease(unit, generation, record)
    lease.renew()
    return lease


def held_by_this_process(unit: Path) -> Lease | None:
    """The newest lease of a unit, if this process has taken it and not given it back."""
    last = newest(unit)
    if last is None or last.record is None or last.record.outcome:
        return None
    owner = last.record.owner
    return Lease(unit, last.generation, last.record) if owner == replace(this_process(), token=owner.token) else None


def _unchanging(unit: Path, last: Found, now: float) -> bool:
    """Whether a lease from the future stays as it is for its whole time."""
    allowed = last.allowed
    if last.renewed - now <= allowed:
        return False
    end = time.monotonic() + allowed
    while time.monotonic() < end:
        time.sleep(min(allowed / 10, 1.0))
        again = newest(unit)
        if again is None or (again.generation, again.renewed) != (last.generation, last.renewed):
            return False
    return True


@dataclass(frozen=True)
class Lease:
    """A lease of this process."""

    unit: Path
    generation: int
    record: LeaseRecord

    @property
    def file(self) -> Path:
        return lease_file(self.unit, self.generation)

    def renew(self) -> None:
        with refusals(self.file):
            os.utime(self.file)

    @property
    def superseded(self) -> bool:
        """Whether somebody else has a later one. Raises ``kfp.RunError`` where the folder can't be looked into."""
        return generations(self.unit)[-1:] != [self.generation]

    def release(self, outcome: Outcome) -> None:
        temporary = self.unit / f"lease.{secrets.token_hex(8)}.release{TEMPORARY}"
        with refusals(self.file):
            try:
                write_json(temporary, replace(self.record, outcome=outcome).to_json())
                temporary.replace(self.file)
            finally:
                with contextlib.suppress(OSError):
                    temporary.unlink()
