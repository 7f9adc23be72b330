"""Rates of 64-bit integer operations; every probe runs at two lengths, and twice the work must take twice the time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from kfp.plan import Dispatch, Plan, blank, given, linear

Resource: TypeAlias = Literal["u64_multiply", "u64_bit", "u64_rotate"]

# The shortest of some device seconds of every plan, measured in turn.
BestSeconds: TypeAlias = Callable[[Sequence[Plan]], list[float]]

# As in u64.metal.
RING, LOOP_STEPS, LINE_STEPS = 16, 4, 8
OPERATIONS: dict[Resource, int] = {"u64_multiply": 1, "u64_bit": 3, "u64_rotate": 1}

_LOOP_SWEEPS = 16
# Work that a compiler folded away takes less than twice the time; a start-up cost and a disturbed sample do so a bit.
_DOUBLING = (1.7, 2.4)
_ATTEMPTS = 5
_MOST_THREADS = 1 << 20


@dataclass(frozen=True)
class Rate:
    """Operations per second, or why there is no figure to believe."""

    resource: Resource
    per_second: float
    problem: str = ""


def rates(best_seconds: BestSeconds) -> tuple[Rate, ...]:
    """The rate of every operation, the better of a loop's and of straight-line code's."""
    return tuple(_rate(resource, best_seconds) for resource in OPERATIONS)


def doubles(seconds: Sequence[float]) -> bool:
    """Did twice the work take twice the time?"""
    low, high = _DOUBLING
    return low <= seconds[1] / seconds[0] <= high


def _rate(resource: Resource, best_seconds: BestSeconds) -> Rate:
    best, problems = 0.0, []
    for form in ("loop",) if resource == "u64_multiply" else ("loop", "line"):
        updates = RING * (2 * LOOP_STEPS * _LOOP_SWEEPS if form == "loop" else 2 * LINE_STEPS)
        threads, seconds = _sound_seconds(resource, form, best_seconds)
        if doubles(seconds):
            best = max(best, OPERATIONS[resource] * updates * threads / seconds[1])
        else:
            problems.append(f"{form}: twice the work took {seconds[1] / seconds[0]:.2f} times as long")
    if best:
        return Rate(resource, best)
    return Rate(resource, 0.0, f"probe {resource} is invalid: {'; '.join(problems)}")


def _sound_seconds(resource: Resource, form: str, best_seconds: BestSeconds) -> tuple[int, list[float]]:
    """(threads, seconds of both lengths): more threads until a run lasts, and again where it was disturbed."""
    threads = 1 << 12
    attempts = 0
    while True:
        seconds = best_seconds(_plans(resource, form, threads))
        if seconds[0] < 5e-4 and threads < _MOST_THREADS:
            threads *= 4
            continue
        attempts += 1
        if doubles(seconds) or attempts == _ATTEMPTS:
            return threads, seconds


def _plans(resource: Resource, form: str, threads: int) -> tuple[Plan, Plan]:
    start = np.random.default_rng(0).integers(0, 2**64 - 1, threads, dtype=np.uint64, endpoint=True)
    shape = linear(threads, 256)

    def plan(kernel: str, constants: dict[int, np.uint32]) -> Plan:
        return Plan(
            (given("start", start), blank("sums", (threads,), np.uint64)),
            (Dispatch(kernel, {0: "start", 1: "sums", **constants}, *shape),),
            {"sums": "sums"},
        )

    if form == "loop":
        kernel = f"{resource}_loop"
        return plan(kernel, {2: np.uint32(_LOOP_SWEEPS)}), plan(kernel, {2: np.uint32(2 * _LOOP_SWEEPS)})
    return plan(f"{resource}_line", {}), plan(f"{resource}_line_twice", {})
