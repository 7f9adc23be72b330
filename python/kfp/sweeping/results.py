"""What there is to say of a sweep: a status for each unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kfp.records import Record
from kfp.sweeping.folder import Cause, Done

UnitState: TypeAlias = Literal["done", "failed", "running", "open"]


@dataclass(frozen=True, eq=False)
class UnitStatus(Record):
    """A unit as its folder has it. ``cause`` and ``reason``: why it failed; ``worker``: who works on it, or was asked
    to; ``folder``: that of its files.
    """

    key: str
    name: str
    task: str
    model: str
    replicate: int
    device: str
    arm: str
    state: UnitState
    cause: Cause | None
    reason: str
    worker: str
    iterations: int
    folder: str
    done: Done | None


@dataclass(frozen=True, eq=False)
class Sweep(Record):
    """A sweep. ``strays``: keys of units in its folder that its spec, as it is now, no longer names."""

    name: str
    folder: str
    units: tuple[UnitStatus, ...]
    strays: tuple[str, ...]

    def of(self, state: UnitState) -> tuple[UnitStatus, ...]:
        return tuple(unit for unit in self.units if unit.state == state)

    @property
    def complete(self) -> bool:
        """Whether every unit is done."""
        return all(unit.state == "done" for unit in self.units)

    def __str__(self) -> str:
        from kfp.sweeping.overview import sweep_lines
        from kfp.tables import plain

        return plain(sweep_lines(self))

    def _repr_html_(self) -> str:
        from kfp.reporting.notebook import frame

        return frame(self.folder)


@dataclass(frozen=True)
class SweepProgress:
    """``settled``: the units that have been done, or have failed, since the last time."""

    sweep: Sweep
    settled: tuple[UnitStatus, ...]
    seconds: float


OnSweepProgress: TypeAlias = Callable[[SweepProgress], None]


def silent(progress: SweepProgress) -> None:
    """Nobody waits."""
