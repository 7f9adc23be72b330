"""The driver of a sweep: looks at the units' files, has workers started for those that need one, looks again.

It knows nothing that the files don't say, but for the jobs that it has started itself. Any number of drivers may work
on one folder; leases decide.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kfp.errors import ExecutorError, RunError
from kfp.runs.files import TEMPORARY, refusals
from kfp.sweeping.executors.base import Executor, Job
from kfp.sweeping.folder import SweepFolder, UnitFolder
from kfp.sweeping.leases import Watcher
from kfp.sweeping.results import OnSweepProgress, Sweep, SweepProgress, UnitStatus
from kfp.sweeping.spec import Spec, Unit

SHORTEST_PAUSE_SECONDS = 0.2
# Looking must not be all that a driver does to a slow file system.
PAUSE_PER_LOOK = 4.0
# A worker that ends again and again before it has taken the lease will not do so the next time either; nor will one
# that gives it back again and again without having done anything, as on a full disk.
MOST_BARREN = 3
MOST_FRUITLESS = 10
# A file server may stammer: a unit has failed when that is seen again.
FAILED_LOOKS = 3
LONGEST_WAIT_SECONDS = 5.0
PROBE = b"\0" * 4096
OLD_PROBE_SECONDS = 3600.0


@dataclass
class _Started:
    job: Job
    generation: int
    iterations: int
    cancelled: bool = False


@dataclass
class _Tracked:
    unit: Unit
    folder: UnitFolder
    status: UnitStatus
    started: _Started | None = None
    barren: int = 0
    fruitless: int = 0
    not_before: float = 0.0
    refused: str = ""
    failed_looks: int = 0
    settled: bool = False


@dataclass
class Driver:
    """Drives the ``units`` of a sweep to their end."""

    spec: Spec
    folder: SweepFolder
    units: Sequence[Unit]
    executor: Executor
    progress: OnSweepProgress
    _tracked: list[_Tracked] = field(default_factory=list)
    _watcher: Watcher = field(default_factory=Watcher)
    _strays: tuple[str, ...] = ()

    def run(self) -> Sweep:
        """Until every unit is done or has failed. Whatever ends it ends the jobs that it has started."""
        begun = time.monotonic()
        try:
            for unit in self.units:
                folder = self.folder.unit_folder(unit.key)
                folder.write_unit(unit)
                self._tracked.append(_Tracked(unit, folder, status_of(folder, unit, 0.0, None)))
            self._strays = strays(self.folder, self.spec)
            remove_old_probes(self.folder.path / "units")
            while True:
                looked = time.monotonic()
                settled = self._look(file_system_time(self.folder.path / "units"))
                sweep = self.sweep()
                self.progress(SweepProgress(sweep, settled, time.monotonic() - begun))
                if all(one.settled for one in self._tracked):
                    self.executor.close(cancel=False)
                    return sweep
                self._start()
                time.sleep(max(SHORTEST_PAUSE_SECONDS, PAUSE_PER_LOOK * (time.monotonic() - looked)))
        except ExecutorError:
            # No more can be started; what runs may well come to its end.
            self.executor.close(cancel=False)
            raise
        except BaseException:
            self.executor.close(cancel=True)
            raise

    def sweep(self) -> Sweep:
        return Sweep(
            name=self.spec.name,
            folder=str(self.folder.path),
            units=tuple(one.status for one in self._tracked),
            strays=self._strays,
        )

    def _look(self, now: float) -> tuple[UnitStatus, ...]:
        settled = []
        for one in self._tracked:
            if not one.settled:
                one.status = status_of(one.folder, one.unit, now, self._watcher, one.refused)
                one.failed_looks = one.failed_looks + 1 if one.status.state == "failed" else 0
                one.settled = one.status.state == "done" or one.failed_looks >= FAILED_LOOKS
                if one.settled:
                    settled.append(one.status)
            # Also of a unit that is settled: its worker may take a moment more to end, and counts until then.
            if one.started is not None:
                self._follow(one, one.started)
        return tuple(settled)

    def _follow(self, one: _Tracked, started: _Started) -> None:
        state = started.job.state()
        if state == "ended":
            one.started = None
            self._judge(one, started)
            return
        if not started.cancelled and self._useless(one, started, state):
            started.job.cancel()
            started.cancelled = True
        if one.status.state == "open":
            one.status = replace(one.status, worker=started.job.describe())

    def _useless(self, one: _Tracked, started: _Started, state: str) -> bool:
        """A job that still waits for a unit that is settled, or one whose worker has stopped renewing its lease."""
        if one.settled:
            return state == "waiting"
        if state != "running":
            return False
        lease = one.folder.newest_lease()
        return lease is not None and lease.generation > started.generation and one.status.state == "open"

    def _judge(self, one: _Tracked, started: _Started) -> None:
        lease = one.folder.newest_lease()
        taken = lease is not None and lease.generation > started.generation
        given_back = taken and lease is not None and lease.record is not None and lease.record.outcome == "stopped"
        further = one.status.iterations > started.iterations
        if one.settled or started.cancelled or (taken and (further or not given_back)):
            one.barren = one.fruitless = 0
            return
        one.barren, one.fruitless = (0, one.fruitless + 1) if taken else (one.barren + 1, one.fruitless)
        one.not_before = time.monotonic() + min(one.barren + one.fruitless, LONGEST_WAIT_SECONDS)
        if one.barren >= MOST_BARREN:
            one.refused = f"its worker ended {one.barren} times before it began"
        elif one.fruitless >= MOST_FRUITLESS:
            one.refused = f"its worker stopped {one.fruitless} times without having done anything"
        if one.refused:
            said = last_line(one.folder.log)
            one.refused += f" ({started.job.describe()})" + (f": {said}" if said else f"; see {one.folder.log}")

    def _start(self) -> None:
        active = sum(one.started is not None for one in self._tracked)
        for one in self._tracked:
            if self.executor.capacity is not None and active >= self.executor.capacity:
                return
            idle = one.started is None and time.monotonic() >= one.not_before
            if one.status.state == "open" and idle and not one.refused:
                lease = one.folder.newest_lease()
                generation = lease.generation if lease is not None else 0
                job = self.executor.start(one.folder.path, one.unit.device)
                one.started = _Started(job, generation, one.status.iterations)
                active += 1


def status_of(folder: UnitFolder, unit: Unit, now: float, watcher: Watcher | None, refused: str = "") -> UnitStatus:
    """What the files say. ``now``: of the file system; without a ``watcher`` a lease is as it seems at this moment."""
    state, reason, worker, iterations = "open", "", "", 0
    done, cause = None, None
    try:
        done = folder.done()
        lease = folder.newest_lease() if done is None and folder.path.is_dir() else None
        iterations = done.iterations if done is not None else folder.iterations() if lease is not None else 0
        if done is not None:
            state = "done"
        elif (
            lease is not None
            and (watcher.standing(folder.path, lease, now) if watcher else lease.standing(now)) == "held"
        ):
            state = "running"
            worker = lease.record.owner.describe() if lease.record is not None else "somebody"
        elif lease is not None and (failure := folder.failed(unit.attempts)) is not None:
            state, cause, reason = "failed", failure.cause, failure.reason
    except RunError as error:
        state, cause, reason = "failed", "error", str(error)
    if state == "open" and refused:
        state, cause, reason = "failed", "lost", refused
    return UnitStatus(
        key=unit.key,
        name=unit.name,
        task=unit.task,
        model=unit.model,
        replicate=unit.replicate,
        device=unit.device,
        arm=unit.arm,
        state=state,  # type: ignore[arg-type]
        cause=cause,
        reason=reason,
        worker=worker,
        iterations=iterations,
        folder=str(folder.path),
        done=done,
    )


def strays(folder: SweepFolder, spec: Spec) -> tuple[str, ...]:
    wanted = {unit.key for unit in spec.units}
    return tuple(key for key in folder.unit_keys() if key not in wanted)


def remove_old_probes(folder: Path) -> None:
    """Those that drivers which were killed have left; another driver's lives for a moment."""
    for probe in folder.glob(f"now.*{TEMPORARY}"):
        with contextlib.suppress(OSError):
            if time.time() - probe.stat().st_mtime > OLD_PROBE_SECONDS:
                probe.unlink()


def file_system_time(folder: Path) -> float:
    """Now, by the clock that dates the files of a folder. Raises ``kfp.RunError`` if nothing can be written there."""
    probe = folder / f"now.{secrets.token_hex(8)}{TEMPORARY}"
    with refusals(folder):
        try:
            probe.write_bytes(PROBE)
            return probe.stat().st_mtime
        finally:
            with contextlib.suppress(OSError):
                probe.unlink()


def last_line(log: Path) -> str:
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 2000))
        lines = file.read().decode(errors="replace").split("\n")
        text = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return "".join(c for c in text if c.isprintable())[-300:]
    return ""
