"""Two executions against each other: warm-up, calibration, pairs in looks until the policy has what it wants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from kfp import _core
from kfp.errors import Error
from kfp.tables import duration
from kfp.timing.looks import FIRST_LOOK, Outcome, PairVerdict, Policy, measure_in_looks
from kfp.timing.pairs import CANDIDATE, REFERENCE, SENTINEL, Blocks, Firsts, order_of
from kfp.timing.statistics import FEWEST_ORDERED_PAIRS, Floats, Interval

# What starting a run may cost beside the run itself, without anything being wrong.
START_SECONDS = 2e-5
# The slower arm's samples last this many times as long as the faster one's at most.
SLOWER_SAMPLE = 10
REPEATS_STEP = 8
MOST_REPEATS = 4096
# A budget may be exceeded by as much, rather than to stop shortly before an answer.
OVERDRAFT = 1.25
# One crossing to the worker lasts no longer: it has a deadline, and a person may want to interrupt it.
CROSSING_SECONDS = 5.0

SENTINEL_SECONDS = 3e-4
WINDOWS_AGREE = 0.01
# After a longer pause the device has to be warmed up again.
IDLE_SECONDS = 0.1

# Repeats against single runs, compared between the arms: beyond this they are not the same work.
SAME_WORK = 1.25
SAME_WORK_TRIALS = 3
SINGLE_RUNS = 15

Problem: TypeAlias = Literal["unmeasurable", "unstable"]


class Unmeasurable(Error):
    """No ratio can be had, and why: the clock's fault, or that of a kernel whose calls don't do the same work."""

    def __init__(self, verdict: Problem, reason: str) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = reason


@dataclass(frozen=True)
class Executions:
    """Numbers of prepared executions in one worker; the sentinel's is fixed work that witnesses the clock's state."""

    reference: int
    candidate: int
    sentinel: int
    # Both arms' resets leave nothing in the caches: every run of a sample starts from one.
    cold: bool = False

    def listed(self) -> list[int]:
        return [self.reference, self.candidate, self.sentinel]


@dataclass(frozen=True)
class PairMeasurement:
    """``reference`` and ``candidate`` are seconds of one run in the order of the pairs, all samples raw."""

    interval: Interval
    verdict: PairVerdict
    reason: str
    reference: Floats
    candidate: Floats
    sentinels: Floats
    warm_up: Floats
    order: str
    repeats: int
    pairs: int
    drops: int
    looks: int
    same_arm_ratio: float
    margin: float
    seconds: float
    flags: tuple[str, ...] = field(default=())


def measure_pair(worker: _core.Worker, executions: Executions, policy: Policy, order_seed: int) -> PairMeasurement:
    """Raises ``Unmeasurable``, and ``_core.WorkerFailure`` when a kernel takes the worker down."""
    meter = _Meter(worker, executions, policy)
    meter.warm_up()
    meter.calibrate()
    outcome = measure_in_looks(meter.blocks, meter.extend, meter.affords, meter.affordable_pairs(), order_seed, policy)
    return meter.result(outcome)


class _Meter:
    def __init__(self, worker: _core.Worker, executions: Executions, policy: Policy) -> None:
        self.worker = worker
        self.executions = executions
        self.policy = policy
        self.each_from_reset = False
        self.repeats = 1
        self.sentinel_repeats = 1
        self.pair_seconds = 0.0
        self.spent = 0.0
        self.seconds_of_pairs = 0.0
        self.blocks = Blocks()
        self.windows: list[float] = []
        self.flags: list[str] = []

    def warm_up(self) -> None:
        """By time and state, not by count: until two windows of the sentinel agree."""
        single = float(self._sample([SENTINEL] * 2, 1).min())
        self.sentinel_repeats = max(1, min(MOST_REPEATS, math.ceil(SENTINEL_SECONDS / single)))
        self._sample([SENTINEL], 1, warm_up=True)
        if len(self.windows) > 1 and abs(self.windows[-1] / self.windows[-2] - 1) > 1.001 * WINDOWS_AGREE:
            seconds = self.policy.warm_up_seconds
            self.flags.append(f"no steady clock: no two windows of the sentinel agreed within {seconds:g} s")

    def calibrate(self) -> None:
        """Repeats for a sample of some milliseconds, the same for both arms, if repeats are the same work."""
        alone = self._arms(1, "AB")
        if max(alone) < SLOWER_SAMPLE * self.policy.sample_seconds:
            alone = _shorter(alone, self._arms(1, 4 * "BAAB"))
        if self.executions.cold:
            self.repeats, self.each_from_reset = self._repeats_for(alone), True
        elif self._repeats_for(alone) > 1:
            # Step by step: a short run pays for its start, and there are kernels that slow down when repeated.
            repeated = alone
            while self.repeats < (wanted := self._repeats_for(repeated)):
                self.repeats = min(wanted, REPEATS_STEP * self.repeats)
                repeated = self._arms(self.repeats, "AB")
            self._require_same_work(alone)
        if self.each_from_reset:
            # Resets may cost more than the runs, so that only trying tells.
            self._arms(self.repeats, "BA")

    def _repeats_for(self, arms: tuple[float, float]) -> int:
        """As many as the faster arm needs, unless the slower one would take forever: they are told apart anyhow."""
        wanted = self.policy.sample_seconds
        enough, bearable = math.ceil(wanted / min(arms)), int(SLOWER_SAMPLE * wanted / max(arms))
        return max(1, min(enough, bearable, MOST_REPEATS))

    def _require_same_work(self, alone: tuple[float, float]) -> None:
        """A repeat starts from what the last run left. Whoever profits from that is held to its single runs.

        Each arm is judged against the other: what a repeat costs or saves both (a cold cache, a state that decays) is
        no kernel's trick.
        """
        repeated = (math.inf, math.inf)
        for _ in range(SAME_WORK_TRIALS):
            repeated = _shorter(repeated, self._arms(self.repeats, "ABBA"))
            slowdown = _relative(repeated, alone)
            speedup = _relative(alone, repeated)
            if slowdown <= SAME_WORK and speedup <= SAME_WORK and 1 / speedup <= SAME_WORK:
                return
        if slowdown > SAME_WORK and self._slower_than_any_single_run(repeated):
            raise Unmeasurable(
                "unstable",
                f"it slows down with every call: {duration(alone[CANDIDATE])} alone, "
                f"{duration(repeated[CANDIDATE])} each in {self.repeats} calls; the reference takes "
                f"{duration(alone[REFERENCE])} and {duration(repeated[REFERENCE])}",
            )
        what = "repeats take longer than single runs, now and then"
        if speedup > SAME_WORK or 1 / speedup > SAME_WORK:
            who = "the candidate" if speedup > SAME_WORK else "the reference"
            what = f"{who} is faster when it is repeated without a reset"
        self.flags.append(f"{what}: only runs from a reset count")
        self.repeats, self.each_from_reset = self._repeats_for(alone), True

    def _slower_than_any_single_run(self, repeated: tuple[float, float]) -> bool:
        """A busy machine slows some runs down; a kernel that slows down does so beyond all of them."""
        arms = np.array([REFERENCE, CANDIDATE] * SINGLE_RUNS)
        singles = self._sample(arms, 1)
        slowest = (float(singles[arms == REFERENCE].max()), float(singles[arms == CANDIDATE].max()))
        return _relative(repeated, slowest) > SAME_WORK

    def affordable_pairs(self) -> int:
        within = int(self.policy.seconds / self.pair_seconds)
        if within < FIRST_LOOK:
            within = min(FIRST_LOOK, int(self.policy.long_seconds / self.pair_seconds))
        return max(4, min(self.policy.most_pairs, within))

    def affords(self, pairs: int) -> bool:
        """Going on to so many, by what the pairs so far have cost: a loaded machine isn't what it was at first."""
        cost = self.seconds_of_pairs / (2 * len(self.blocks))
        budget = (
            self.policy.seconds if self.pair_seconds * FIRST_LOOK <= self.policy.seconds else self.policy.long_seconds
        )
        return pairs * cost <= OVERDRAFT * budget

    def extend(self, candidate_first: Firsts) -> None:
        """Samples the blocks that are not there yet."""
        at_once = max(1, int(CROSSING_SECONDS / (2 * self.pair_seconds)))
        while len(self.blocks) < len(candidate_first):
            part = candidate_first[len(self.blocks) : len(self.blocks) + at_once]
            before = self.spent
            samples = self._sample(order_of(part), self.repeats, warm_up=True)
            self.seconds_of_pairs += self.spent - before
            self.blocks.add(part, samples, self.repeats, self.sentinel_repeats)

    def result(self, outcome: Outcome) -> PairMeasurement:
        blocks, lost, kept = self.blocks, self.blocks.lost(), self.blocks.kept()
        pairs = 2 * int(kept.sum())
        flags = list(self.flags)
        if lost.any() and kept.all():
            flags.append(
                f"the device's clock changed beside {int(lost.sum())} of {len(blocks)} blocks: too many to drop any"
            )
        if pairs < FEWEST_ORDERED_PAIRS:
            flags.append("few pairs: the interval takes their log ratios for normal")
        undecided = outcome.verdict == "undecided"
        return PairMeasurement(
            interval=outcome.interval,
            verdict=outcome.verdict,
            reason=f"{pairs} pairs in {duration(self.spent)} leave it open" if undecided else "",
            reference=blocks.reference.reshape(-1),
            candidate=blocks.candidate.reshape(-1),
            sentinels=blocks.sentinels,
            warm_up=np.array(self.windows),
            order="".join("BAAB" if first else "ABBA" for first in outcome.candidate_first),
            repeats=self.repeats,
            pairs=pairs,
            drops=2 * len(blocks) - pairs,
            looks=outcome.looks,
            same_arm_ratio=blocks.same_arm_ratio(),
            margin=outcome.margin,
            seconds=self.spent,
            flags=tuple(flags),
        )

    def _arms(self, repeats: int, order: str) -> tuple[float, float]:
        """Seconds of one run of each arm, the shortest of its samples; and what a pair of such samples costs."""
        arms = np.array(["AB".index(letter) for letter in order])
        before = self.spent
        samples = self._sample(arms, repeats) / repeats
        self.pair_seconds = 2 * (self.spent - before) / len(arms)
        return float(samples[arms == REFERENCE].min()), float(samples[arms == CANDIDATE].min())

    def _sample(
        self,
        order: Sequence[int] | npt.NDArray[np.integer[Any]],
        repeats: int,
        *,
        warm_up: bool = False,
    ) -> Floats:
        """One crossing; with ``warm_up`` a device that has rested is warmed up first."""
        samples, report = self.worker.sample(
            self.executions.listed(),
            order,
            [repeats, repeats, self.sentinel_repeats],
            each_from_reset=self.each_from_reset,
            sentinel=SENTINEL if warm_up else None,
            agreement=WINDOWS_AGREE,
            most_seconds=self.policy.warm_up_seconds,
            idle_seconds=IDLE_SECONDS,
        )
        self.spent += report.wall_seconds
        self.windows += [float(window) / self.sentinel_repeats for window in report.warm_up]
        require_durations(samples, report.wall_seconds)
        return samples


def _shorter(these: tuple[float, float], those: tuple[float, float]) -> tuple[float, float]:
    return min(these[0], those[0]), min(these[1], those[1])


def _relative(these: tuple[float, float], those: tuple[float, float]) -> float:
    """How much more these of the candidate exceed those than the reference's do; what a start costs is no excess."""
    excess = [max(1.0, this / (that + START_SECONDS)) for this, that in zip(these, those, strict=True)]
    return excess[CANDIDATE] / excess[REFERENCE]


def require_durations(seconds: Floats, wall_seconds: float) -> None:
    """Raises ``Unmeasurable`` for times that can't be: 0 ticks, a NaN, more than the wait for them."""
    # Written so that a NaN fails.
    good = (seconds > 0) & (seconds < np.inf)
    if not bool(good.all()):
        first = float(seconds[int(np.argmin(good))])
        what = "0 ticks of its clock" if first == 0 else f"{first!r} s"
        raise Unmeasurable("unmeasurable", f"expected a positive duration, the device reported {what}")
    claimed = float(seconds.sum())
    if not claimed <= 1.01 * wall_seconds + 1e-3:
        raise Unmeasurable(
            "unmeasurable", f"the device claims {duration(claimed)} for what took {duration(wall_seconds)} in all"
        )
