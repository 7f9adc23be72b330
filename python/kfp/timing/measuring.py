"""Two executions against each other: warm-up, calibration, pairs in looks until the policy has what it wants."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from kfp import _core
from kfp.errors import Error
from kfp.timing.looks import Look, PairVerdict, Policy, look, schedule
from kfp.timing.pairs import CANDIDATE, REFERENCE, SENTINEL, Blocks, first_arms, order_of
from kfp.timing.statistics import Floats, Interval, pair_interval

# What starting a run may cost beside the run itself, without anything being wrong.
START_SECONDS = 2e-5
# A sample lasts at least this long, by repeats: far above any clock's tick, and above the cost of starting it.
SAMPLE_SECONDS = 2.5e-3
MOST_REPEATS = 4096
# One crossing to the worker lasts no longer: it has a deadline, and a person may want to interrupt it.
CROSSING_SECONDS = 5.0

SENTINEL_SECONDS = 3e-4
WINDOW_SAMPLES = 5
WINDOWS_AGREE = 0.01
WARM_UP_SECONDS = 2.0

# Repeats against single runs: beyond this they are not the same work.
SAME_WORK = 1.25

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


def measure_pair(
    worker: _core.Worker, executions: Executions, policy: Policy, order_seed: int, *, repeatable: bool = True
) -> PairMeasurement:
    """Raises ``Unmeasurable``, and ``_core.WorkerFailure`` when a kernel takes the worker down.

    ``repeatable``: a sample may be several runs without a reset between them.
    """
    meter = _Meter(worker, executions, repeatable)
    meter.warm_up()
    meter.calibrate()
    most_pairs = meter.affordable_pairs(policy)
    looks = schedule(most_pairs)
    candidate_first = first_arms(order_seed, looks[-1] // 2)
    for number, pairs in enumerate(looks):
        meter.extend(candidate_first[: pairs // 2])
        floor = math.exp(abs(math.log(meter.same_arm_ratio()))) - 1
        at = policy.with_margin(floor)
        found = look(meter.blocks.log_ratios(), number, looks, at)
        if found.stop:
            break
    return meter.result(found, number + 1, candidate_first[: pairs // 2], at)


class _Meter:
    def __init__(self, worker: _core.Worker, executions: Executions, repeatable: bool) -> None:
        self.worker = worker
        self.executions = executions
        self.repeatable = repeatable
        self.repeats = 1
        self.sentinel_repeats = 1
        self.pair_seconds = 0.0
        self.spent = 0.0
        self.blocks = Blocks()
        self.windows: list[float] = []
        self.flags: list[str] = []

    def warm_up(self) -> None:
        """By time and state, not by count: until two windows of the sentinel agree."""
        single = float(self._sample([SENTINEL], [0, 0], 1).min())
        self.sentinel_repeats = max(1, min(MOST_REPEATS, math.ceil(SENTINEL_SECONDS / single)))
        began = self.spent
        while self.spent - began < WARM_UP_SECONDS:
            window = float(np.median(self._sample([SENTINEL], [0] * WINDOW_SAMPLES, self.sentinel_repeats)))
            self.windows.append(window / self.sentinel_repeats)
            if len(self.windows) > 1 and abs(self.windows[-1] / self.windows[-2] - 1) <= WINDOWS_AGREE:
                return
        self.flags.append(f"no steady clock: no two windows of the sentinel agreed within {WARM_UP_SECONDS:g} s")

    def calibrate(self) -> None:
        """Repeats for a sample of some milliseconds, the same for both arms, if repeats are the same work."""
        alone = self._arms(1, "ABBA")
        if self.repeatable and min(alone) < SAMPLE_SECONDS:
            repeated = self._arms(self._repeats_for(min(alone)), "AB")
            repeats = self._repeats_for(min(repeated))
            repeated = self._arms(repeats, "AB")
            self.repeats = self._same_work(alone, repeated, repeats)
        before = self.spent
        self._arms(self.repeats, "BA")
        self.pair_seconds = self.spent - before

    def _repeats_for(self, seconds: float) -> int:
        return max(1, min(MOST_REPEATS, math.ceil(SAMPLE_SECONDS / seconds)))

    def _same_work(self, alone: tuple[float, float], repeated: tuple[float, float], repeats: int) -> int:
        """A repeat starts from what the last one left. Whoever profits from that is held to its single runs."""
        slower = [again > SAME_WORK * once + START_SECONDS for once, again in zip(alone, repeated, strict=True)]
        if slower[CANDIDATE] and not slower[REFERENCE]:
            raise Unmeasurable(
                "unstable",
                f"it slows down with every call: {alone[CANDIDATE]:.3g} s alone, {repeated[CANDIDATE]:.3g} s each in "
                f"{repeats} calls; the reference doesn't",
            )
        if any(once > SAME_WORK * again + START_SECONDS for once, again in zip(alone, repeated, strict=True)):
            self.flags.append("faster when repeated without a reset: single runs count")
            return 1
        return repeats

    def affordable_pairs(self, policy: Policy) -> int:
        within = int(policy.seconds / self.pair_seconds)
        if within < 16:
            within = min(16, int(policy.long_seconds / self.pair_seconds))
        return max(4, min(policy.most_pairs, within))

    def extend(self, candidate_first: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """Samples the blocks that are not there yet."""
        at_once = max(1, int(CROSSING_SECONDS / (2 * self.pair_seconds)))
        while len(self.blocks) < len(candidate_first):
            part = candidate_first[len(self.blocks) : len(self.blocks) + at_once]
            order = order_of(part)
            samples = np.empty(len(order))
            arms = order != SENTINEL
            samples[0] = self._sample([SENTINEL], [0], self.sentinel_repeats)[0]
            samples[arms] = self._sample([REFERENCE, CANDIDATE], [int(i) for i in order[arms]], self.repeats)
            samples[5::5] = self._sample([SENTINEL], [0], self.sentinel_repeats)[0]
            self.blocks.add(part, samples, self.repeats, self.sentinel_repeats)

    def same_arm_ratio(self) -> float:
        return pair_interval(self.blocks.same_arm_log_ratios(), 0.5).ratio

    def result(
        self, found: Look, looks: int, candidate_first: np.ndarray[tuple[int], np.dtype[np.bool_]], policy: Policy
    ) -> PairMeasurement:
        blocks, lost = self.blocks, self.blocks.lost()
        kept = blocks.kept()
        flags = list(self.flags)
        if lost.any() and kept.all():
            flags.append(
                f"the device's clock changed beside {int(lost.sum())} of {len(blocks)} blocks: too many to drop any"
            )
        if int(kept.sum()) * 2 < 8:
            flags.append("few pairs: the interval takes their log ratios for normal")
        reason = ""
        if found.verdict == "undecided":
            reason = f"{2 * int(kept.sum())} pairs in {self.spent:.2g} s leave it open" + (
                f" ({flags[0]})" if flags else ""
            )
        return PairMeasurement(
            interval=found.interval,
            verdict=found.verdict,
            reason=reason,
            reference=blocks.reference.reshape(-1),
            candidate=blocks.candidate.reshape(-1),
            sentinels=blocks.sentinels,
            warm_up=np.array(self.windows),
            order="".join("BAAB" if first else "ABBA" for first in candidate_first),
            repeats=self.repeats,
            pairs=2 * int(kept.sum()),
            drops=2 * int(len(kept) - kept.sum()),
            looks=looks,
            same_arm_ratio=self.same_arm_ratio(),
            margin=policy.margin,
            seconds=self.spent,
            flags=tuple(flags),
        )

    def _arms(self, repeats: int, order: str) -> tuple[float, float]:
        """Seconds of one run of each arm, the shortest of its samples."""
        arms = ["AB".index(letter) for letter in order]
        samples = self._sample([REFERENCE, CANDIDATE], arms, repeats) / repeats
        by_arm = np.array(arms)
        return float(samples[by_arm == REFERENCE].min()), float(samples[by_arm == CANDIDATE].min())

    def _sample(self, which: list[int], order: list[int], repeats: int) -> Floats:
        numbers = self.executions.listed()
        samples, report = self.worker.sample([numbers[i] for i in which], order, repeats)
        self.spent += report.wall_seconds
        require_durations(samples, report.wall_seconds)
        return samples


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
            "unmeasurable", f"the device claims {claimed:.6f} s for what took {wall_seconds:.6f} s in all"
        )
