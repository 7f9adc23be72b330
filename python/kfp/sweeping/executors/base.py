"""What the driver of a sweep asks of whatever starts its workers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

JobState: TypeAlias = Literal["waiting", "running", "ended", "unknown"]

# Exit codes of a worker. The folder says the same; a code is only the quick answer.
DONE, FAILED, HELD, STOPPED, OVERTIME = 0, 1, 4, 5, 6


def worker_command(unit: Path) -> list[str]:
    """The command line of the process that does one unit, or goes on with it."""
    return [sys.executable, "-m", "kfp.sweeping.worker", str(unit)]


class Job(Protocol):
    """A worker that was asked for. Its end says nothing of the unit: it may have been killed, or found it held."""

    def state(self) -> JobState:
        """``unknown`` where the executor can't tell just now; never raises for that."""

    def cancel(self) -> None:
        """Asks the worker to stop; returns at once, and does nothing for one that has ended."""

    def describe(self) -> str:
        """Where it runs, for people: ``pid 123``, ``Slurm job 17``, ``dask worker tcp://…``."""


class Executor(Protocol):
    """Starts workers somewhere. Whether a unit is done, held or failed is said by its folder alone.

    ``capacity``: how many jobs may be started and not yet ended; None where the executor has a queue of its own.
    """

    name: str
    capacity: int | None

    def start(self, unit: Path, device: str) -> Job:
        """Starts a worker for the unit's folder, which is to use ``device``. Raises ``kfp.Error`` if it never can."""

    def close(self, cancel: bool) -> None:
        """Gives up what the executor holds; with ``cancel`` its jobs are ended too."""
