"""A sweep on disk. Its files are the truth: no process has a state of its own.

sweep.json              the spec, as it was last asked for
units/<key>/            a unit, by the hash of all that decides its result
    unit.json           the unit
    lease-0001.json …   who worked on it, see ``leases``
    work-0001/run/      the run while it is worked on; a later holder takes it along, so an earlier one has lost it
    failed-0001.json …  why an attempt failed
    forgiven.json       up to which lease nothing counts any more
    worker.log          what its workers printed
    run/                the run when it is complete, as ``kfp evolve`` leaves it
    done.json           last, and once
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from kfp.errors import ResultFormatError, RunError
from kfp.records import Record
from kfp.runs.files import TEMPORARY, create, is_there, read_json, refusals, write_json
from kfp.sweeping.leases import Found, Lease, found, generations, newest
from kfp.sweeping.spec import KEY_DIGITS, Spec, Unit

FORMAT = 1
# A unit whose workers are killed from outside again and again may be what kills them: by its memory, for one.
MOST_LOST_PER_ATTEMPT = 10

_FAILED = re.compile(r"failed-(\d{4,})\.json")
_KEY = re.compile(rf"[0-9a-f]{{{KEY_DIGITS}}}")

R = TypeVar("R", bound=Record)
Cause: TypeAlias = Literal["error", "deadline", "usage", "unavailable", "lost"]
# What another attempt can't mend either.
FINAL: tuple[Cause, ...] = ("usage", "unavailable", "lost")


@dataclass(frozen=True, eq=False)
class Failure(Record):
    """Why an attempt failed. ``generation`` is that of its lease."""

    generation: int
    cause: Cause
    reason: str


@dataclass(frozen=True, eq=False)
class Done(Record):
    """The end of a unit, with what a table of the sweep shows of it.

    ``gain`` is the incumbent's at claim grade over the start, with its 95 % interval; ``held_out`` the ratio at the
    published held-out configuration; ``gate`` the verdict of the gate, "" for none.
    """

    key: str
    generation: int
    iterations: int
    promotions: int
    incumbent_sha256: str
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    held_out: float | None
    gate: str
    cost_usd: float
    seconds: float


class UnitFolder:
    """One unit's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def run(self) -> Path:
        """Where the complete run lies."""
        return self.path / "run"

    @property
    def log(self) -> Path:
        return self.path / "worker.log"

    def unit(self) -> Unit:
        """Raises ``kfp.RunError`` for a folder that is no unit's."""
        return _decoded(Unit, self.path / "unit.json", "unit")

    def write_unit(self, unit: Unit) -> None:
        with refusals(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        head = {"format": FORMAT, "unit": unit.to_json()}
        file = self.path / "unit.json"
        with contextlib.suppress(RunError):
            if read_json(file) == head:
                return
            write_json(file, head)
            return
        if not create(file, head):
            write_json(file, head)

    def done(self) -> Done | None:
        """Raises ``kfp.RunError`` for a file that is damaged: it was whole when it was made."""
        file = self.path / "done.json"
        return _decoded(Done, file, "done") if is_there(file) else None

    def write_done(self, done: Done) -> bool:
        return create(self.path / "done.json", {"format": FORMAT, "done": done.to_json()})

    def failures(self) -> list[Failure]:
        """Those that count, oldest first."""
        forgiven = self._forgiven()
        with refusals(self.path):
            names = sorted(entry.name for entry in self.path.iterdir() if _FAILED.fullmatch(entry.name))
        listed = []
        for name in names:
            generation = int(name[len("failed-") : -len(".json")])
            if generation <= forgiven:
                continue
            try:
                listed.append(_decoded(Failure, self.path / name, "failure"))
            except RunError as error:
                listed.append(Failure(generation, "error", f"its record is damaged: {error}"))
        return listed

    def write_failure(self, failure: Failure) -> None:
        file = self.path / f"failed-{failure.generation:04d}.json"
        create(file, {"format": FORMAT, "failure": failure.to_json()})

    def failed(self, attempts: int) -> Failure | None:
        """The failure that ends the unit, None while there is hope."""
        failures = self.failures()
        final = next((failure for failure in failures if failure.cause in FINAL), None)
        if final is not None or len(failures) >= attempts:
            return final or failures[-1]
        lost = [lease for lease in self._lost_leases() if lease.generation not in {f.generation for f in failures}]
        if len(lost) < MOST_LOST_PER_ATTEMPT * attempts:
            return None
        reason = f"{len(lost)} of its workers ended without a word, as one does that is killed or has no memory left"
        return Failure(lost[-1].generation, "lost", reason)

    def forgive(self) -> bool:
        """Nothing that has gone wrong so far counts any more; whether there was anything."""
        if not self.failures() and not self._lost_leases():
            return False
        write_json(self.path / "forgiven.json", {"format": FORMAT, "generation": (generations(self.path) or [0])[-1]})
        return True

    def newest_lease(self) -> Found | None:
        return newest(self.path)

    def iterations(self) -> int:
        """How many are complete, of the run wherever it lies now."""
        place = self.present()
        if place is None:
            return 0
        with contextlib.suppress(OSError):
            return sum(1 for _ in (place / "iterations").glob("*/record.json"))
        return 0

    def enter(self, lease: Lease) -> Path:
        """The folder for the run under this lease, with whatever earlier holders have done.

        The run moves: one of them that only seemed dead no longer finds it where it wrote.
        """
        place = self._work(lease.generation) / "run"
        with refusals(place):
            self._work(lease.generation).mkdir(exist_ok=True)
            present = self.present()
            if present is not None and present != place:
                present.rename(place)
            # A holder that is stopped, or on a machine out of reach, may still have them locked.
            for lock in place.glob("*lock"):
                lock.unlink(missing_ok=True)
        self._sweep_out(lease.generation)
        return place

    def leave(self, lease: Lease) -> None:
        """The run is complete: it gets its place for good."""
        with refusals(self.run):
            (self._work(lease.generation) / "run").rename(self.run)
        self._sweep_out(None)

    def present(self) -> Path | None:
        """The run wherever it lies now, None where it has not begun."""
        places = [self.run, *sorted((work / "run" for work in self.path.glob("work-*")), reverse=True)]
        return next((place for place in places if (place / "run.json").is_file()), None)

    def _sweep_out(self, kept: int | None) -> None:
        """What others left behind; never worth failing for."""
        for entry in self.path.iterdir():
            work = entry.name.startswith("work-") and (kept is None or entry != self._work(kept))
            if work:
                shutil.rmtree(entry, ignore_errors=True)
            elif kept is None and entry.name.endswith(TEMPORARY):
                with contextlib.suppress(OSError):
                    entry.unlink()

    def _work(self, generation: int) -> Path:
        return self.path / f"work-{generation:04d}"

    def _forgiven(self) -> int:
        file = self.path / "forgiven.json"
        with contextlib.suppress(RunError):
            if is_there(file):
                generation = read_json(file).get("generation")
                return generation if isinstance(generation, int) else 0
        return 0

    def _lost_leases(self) -> list[Found]:
        """Those that somebody else took over, or nobody yet, without a word of how they ended."""
        forgiven = self._forgiven()
        numbers = [number for number in generations(self.path) if number > forgiven]
        return [lease for lease in (found(self.path, number) for number in numbers[:-1]) if lease.lost]


class SweepFolder:
    """The folder of a sweep."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def file(self) -> Path:
        return self.path / "sweep.json"

    def spec(self) -> Spec:
        """Raises ``kfp.RunError`` for a folder that is no sweep's, or of another format."""
        if not is_there(self.file):
            raise RunError(f"{self.path}: expected the folder of a sweep, it has no sweep.json")
        return _decoded(Spec, self.file, "spec")

    def begin(self, spec: Spec) -> None:
        """Makes the folder, or goes on with that of the same sweep, whose spec may have changed since."""
        with refusals(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            strangers = sorted(e.name for e in self.path.iterdir() if e.name not in ("sweep.json", "units"))
        head = {"format": FORMAT, "spec": spec.to_json()}
        others = [name for name in strangers if not name.endswith(TEMPORARY)]
        if others and not is_there(self.file):
            raise RunError(f"{self.path}: expected a sweep or an empty folder, it holds {others[0]!r}")
        if is_there(self.file) or not create(self.file, head):
            known = self.spec()
            if known.name != spec.name:
                raise RunError(f"{self.path}: another sweep: {known.name!r}, not {spec.name!r}; choose another folder")
            if known != spec:
                write_json(self.file, head)
        with refusals(self.path):
            (self.path / "units").mkdir(exist_ok=True)

    def unit_folder(self, key: str) -> UnitFolder:
        return UnitFolder(self.path / "units" / key)

    def unit_keys(self) -> list[str]:
        """Of all units that have a folder."""
        folder = self.path / "units"
        with refusals(folder):
            return sorted(e.name for e in folder.iterdir() if _KEY.fullmatch(e.name)) if folder.is_dir() else []

    def runs(self) -> Iterator[tuple[Unit, Path]]:
        """(unit, folder) of each run in the order of the spec, also of those that are not complete.

        Units that the spec no longer names are left out.
        """
        for unit in self.spec().units:
            place = self.unit_folder(unit.key).present()
            if place is not None:
                yield unit, place


def is_sweep(folder: Path) -> bool:
    return (folder / "sweep.json").is_file()


def _decoded(kind: type[R], file: Path, name: str) -> R:
    head = read_json(file)
    if head.get("format") != FORMAT:
        raise RunError(f"{file}: made by a different kfp (format {head.get('format')!r}); this one reads {FORMAT}")
    try:
        return kind.from_json(head.get(name, {}))
    except ResultFormatError as error:
        raise RunError(f"{file}: {error}") from None
