"""How long a plan takes on its device: a handful of samples within a budget.

Simple on purpose: one execution alone. It goes through ``Worker.sample``, as a paired comparison will.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kfp import _core
from kfp.results import Timing

# What starting a run may cost beside the run itself, without anything being wrong.
START_SECONDS = 2e-5

Seconds = npt.NDArray[np.float64]


class ClockFault(Exception):
    """The device reported times that can't be: the message says which."""


@dataclass(frozen=True)
class Budget:
    """``seconds`` of device time in all; a sample is repeated until it lasts ``sample_seconds``."""

    seconds: float = 1.0
    sample_seconds: float = 2e-3
    most_samples: int = 15
    most_repeats: int = 1000


@dataclass(frozen=True)
class Measurement:
    timing: Timing
    flags: tuple[str, ...]


def measure(worker: _core.Worker, execution: int, first_seconds: float, budget: Budget | None = None) -> Measurement:
    """Times an execution whose first run took ``first_seconds``, which is all there is of a run beyond the budget."""
    budget = budget or Budget()
    require_duration(first_seconds)
    if first_seconds > budget.seconds:
        return Measurement(_timing(np.array([first_seconds]), 1), ("one sample only: the first run",))
    # The first run paid for cold caches and page faults: a second one says better how often to repeat.
    single = _sample(worker, execution, 1, 1)[0]
    repeats = max(1, min(budget.most_repeats, math.ceil(budget.sample_seconds / single)))
    count = max(1, min(budget.most_samples, int(budget.seconds / (single * repeats))))
    samples = _sample(worker, execution, count, repeats)
    if repeats == 1:
        # In a run this long cold caches don't show, and a second sample is worth more than their absence.
        few = np.concatenate(([first_seconds], samples)) if count < 3 else samples
        return Measurement(_timing(few, 1), ())
    return _against_single_runs(worker, execution, samples, repeats, count)


def _against_single_runs(
    worker: _core.Worker, execution: int, samples: Seconds, repeats: int, count: int
) -> Measurement:
    """A repeat starts from what the last one left; a kernel that profits from that is held to its single runs."""
    singles = _sample(worker, execution, count, 1)
    if float(singles.min()) > 1.25 * float(np.median(samples)) + START_SECONDS:
        return Measurement(_timing(singles, 1), ("faster when repeated without a reset: single runs count",))
    return Measurement(_timing(samples, repeats), ())


def _sample(worker: _core.Worker, execution: int, count: int, repeats: int) -> Seconds:
    """Seconds of one run, in ``count`` samples of ``repeats`` runs each."""
    totals, report = worker.sample([execution], [0] * count, repeats)
    for total in totals:
        require_duration(float(total))
    claimed = float(totals.sum())
    if not claimed <= 1.01 * report.wall_seconds + 1e-3:
        raise ClockFault(f"the device claims {claimed:.6f} s for what took {report.wall_seconds:.6f} s in all")
    return totals / repeats


def require_duration(seconds: float) -> None:
    # Written so that a NaN fails.
    if not 0 < seconds < math.inf:
        raise ClockFault(f"expected a positive duration, the device reported {seconds!r} s")


def _timing(samples: Seconds, repeats: int) -> Timing:
    lower, median, upper = (float(value) for value in np.percentile(samples, (25, 50, 75)))
    return Timing(median, lower, upper, tuple(float(value) for value in samples), repeats, "warm")
