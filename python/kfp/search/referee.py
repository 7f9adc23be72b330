"""The referee that measures: paired comparisons on a device, through ``kfp.compare``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kfp.comparison import compare
from kfp.progress import Progress
from kfp.results import Math
from kfp.search.judgement import Call, Effort, Judgement, Ratio
from kfp.tasks.base import Configuration, Scale, Task
from kfp.timing.looks import CLAIM, SEARCH, Policy
from kfp.timing.results import Comparison, ConfigurationComparison

# An undecided comparison is made once more with four times the time.
MORE = replace(SEARCH, seconds=4 * SEARCH.seconds, most_pairs=4 * SEARCH.most_pairs)
# Small configurations last a millisecond: half a second holds hundreds of pairs of them.
SMALL_CLAIM = replace(CLAIM, seconds=0.6, long_seconds=1.2)
SMALL_SEARCH = replace(SEARCH, long_seconds=2.0)
SMALL_MORE = replace(MORE, long_seconds=3.0)
CLAIM_PROCESSES = 3

_CANDIDATES_FAULT = ("wrong", "pipeline error", "timeout", "crash", "fault", "memory", "refused", "output")
_COMPARED: tuple[Call, ...] = ("win", "no change", "regression", "undecided")


@dataclass
class CompareReferee:
    """Measures on one device. ``seed`` gives the orders of the samples, another one for each comparison."""

    task: Task
    device: str
    scale: Scale
    math: Math
    seed: int
    progress: Callable[[Progress], None]

    def compare(
        self, candidate: str, incumbent: str, configurations: tuple[Configuration, ...], effort: Effort
    ) -> Judgement:
        started = time.monotonic()
        claim = effort == "claim"
        comparison = compare(
            self.task,
            candidate,
            incumbent,
            device=self.device,
            scale=self.scale,
            math=self.math,
            seed=self._order_seed(candidate, incumbent, effort),
            grade="claim" if claim else "search",
            processes=CLAIM_PROCESSES if claim else None,
            policy=self._policy(effort),
            configurations=configurations,
            progress=self.progress,
        )
        return _judgement(comparison, effort, time.monotonic() - started)

    def _policy(self, effort: Effort) -> Policy:
        small = self.scale == "small"
        if effort == "claim":
            return SMALL_CLAIM if small else CLAIM
        if effort == "more":
            return SMALL_MORE if small else MORE
        return SMALL_SEARCH if small else SEARCH

    def _order_seed(self, candidate: str, incumbent: str, effort: Effort) -> int:
        words = [self.seed, len(effort), *candidate.encode()[-64:], *incumbent.encode()[-64:]]
        return int(np.random.SeedSequence(words).generate_state(1)[0])


def _judgement(comparison: Comparison, effort: Effort, seconds: float) -> Judgement:
    verdict = _call(comparison.verdict)
    interval = comparison.interval
    return Judgement(
        verdict=verdict,
        ratio=interval.ratio if interval else None,
        low=interval.lower if interval else None,
        high=interval.upper if interval else None,
        ratios=tuple(_ratio(row) for row in comparison.configurations if row.interval is not None),
        pairs=sum(row.pairs for row in comparison.configurations),
        effort=effort,
        complete=True,
        reason=comparison.reason,
        seconds=seconds,
    )


def _call(verdict: str) -> Call:
    """The candidate's own doing makes it wrong; what may be the machine's or the other kernel's decides nothing.

    A source that had compiled and does not now met a compiler without time or memory.
    """
    if verdict in _CANDIDATES_FAULT:
        return "wrong"
    return next((call for call in _COMPARED if call == verdict), "undecided")


def _ratio(row: ConfigurationComparison) -> Ratio:
    assert row.interval is not None
    return Ratio(row.label, row.interval.ratio, row.interval.lower, row.interval.upper, _call(row.verdict))
