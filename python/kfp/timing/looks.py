"""When to look at the pairs, how much error each look may spend, and what it decides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from kfp.errors import UsageError
from kfp.timing.pairs import Blocks, Firsts, first_arms
from kfp.timing.statistics import Floats, Interval, pair_interval

PairVerdict: TypeAlias = Literal["win", "no change", "regression", "undecided"]
Stop: TypeAlias = Literal["precise", "decided"]

FIRST_LOOK = 16


@dataclass(frozen=True)
class Policy:
    """How long to measure one configuration, and when enough is known.

    ``seconds`` is the budget of a configuration's pairs, resets included; kernels so long that it holds fewer than 16
    pairs have ``long_seconds``. ``half_width`` is where the interval is narrow enough. ``confidence`` is that of the
    interval that is reported; ``error`` is the share of false verdicts that is tolerated, over all looks. A win or
    regression is one by more than ``margin``. ``stop``: ``precise`` goes on for a winner until its ratio is known to
    ``half_width``, and stops early for a clear loser; ``decided`` stops at the first verdict. A sample lasts at least
    about ``sample_seconds``, by repeats. ``threads``: of the host, for a device that runs on them; 0 is as many as
    there are. Short samples of one thread are what a busy machine disturbs least.
    """

    seconds: float = 0.7
    long_seconds: float = 6.0
    half_width: float = 0.005
    confidence: float = 0.95
    error: float = 0.005
    margin: float = 0.01
    stop: Stop = "precise"
    most_pairs: int = 512
    warm_up_seconds: float = 0.5
    sample_seconds: float = 2e-3
    threads: int = 0

    def __post_init__(self) -> None:
        durations = ("seconds", "long_seconds", "warm_up_seconds", "sample_seconds")
        for name in (*durations, "half_width", "confidence", "error"):
            if not 0 < getattr(self, name) < float("inf"):
                raise UsageError(f"policy: expected {name} above 0, got {getattr(self, name)!r}")
        if not (self.confidence < 1 and self.error < 1 and self.margin >= 0 and self.most_pairs >= 4):
            raise UsageError("policy: expected confidence and error below 1, margin from 0, most_pairs from 4")
        if self.threads < 0:
            raise UsageError(f"policy: expected threads from 0, got {self.threads}")

    def with_margin(self, margin: float) -> Policy:
        return replace(self, margin=max(self.margin, margin))


SEARCH = Policy()
CLAIM = Policy(seconds=3.0, long_seconds=20.0, half_width=0.002, most_pairs=1024, warm_up_seconds=2.0)
# For a search that only asks which of two is faster.
RACE = replace(SEARCH, stop="decided")


def schedule(most_pairs: int) -> tuple[int, ...]:
    """Numbers of pairs at which to look: doubling from 16 to ``most_pairs``, all even since a block has two pairs."""
    last = max(4, most_pairs - most_pairs % 2)
    looks = []
    size = FIRST_LOOK
    # A last step of less than a half more isn't worth a look.
    while size * 1.5 <= last:
        looks.append(size)
        size *= 2
    return (*looks, last)


@lru_cache(maxsize=256)
def spending(looks: tuple[int, ...], error: float) -> tuple[float, ...]:
    """The error of each look: what the power family (Kim & DeMets 1987, exponent 2) adds to the looks before it.

    The errors add up to ``error``, so that the intervals of all looks together hold with 1 - ``error``, however the
    samples depend on each other, and stopping at any of them is fair.
    """
    spent = [error * (n / looks[-1]) ** 2 for n in looks]
    return tuple(now - before for before, now in zip([0.0, *spent], spent, strict=False))


class Look(NamedTuple):
    interval: Interval  # at the reported confidence
    verdict: PairVerdict
    stop: bool


def look(values: Floats, number: int, looks: tuple[int, ...], policy: Policy) -> Look:
    """Judges the log ratios at look ``number`` of the schedule. Dropped pairs are not among ``values``."""
    reported, deciding = (
        pair_interval(values, spending(looks, error)[number]) for error in (1 - policy.confidence, policy.error)
    )
    verdict = decide(deciding, policy.margin)
    interval = replace(reported, confidence=policy.confidence)
    if number + 1 == len(looks):
        return Look(interval, verdict, True)
    if policy.stop == "decided":
        return Look(interval, verdict, verdict != "undecided")
    precise = interval.half_width <= policy.half_width and verdict != "undecided"
    return Look(interval, verdict, precise or verdict == "regression")


class Outcome(NamedTuple):
    """Of all looks up to the one that sufficed."""

    interval: Interval
    verdict: PairVerdict
    looks: int
    margin: float
    candidate_first: Firsts


def measure_in_looks(
    blocks: Blocks,
    extend: Callable[[Firsts], None],
    affords: Callable[[int], bool],
    most_pairs: int,
    order_seed: int,
    policy: Policy,
) -> Outcome:
    """``extend`` adds blocks until there is one for each first arm that it is given; looks go on until one suffices.

    ``affords`` says whether there is time to go on to so many pairs in all.

    The margin of a look is the policy's or the A/A floor, what the reference differs from itself by, if that is more.
    """
    looks = schedule(most_pairs)
    candidate_first = first_arms(order_seed, looks[-1] // 2)
    for number, pairs in enumerate(looks):
        so_far = candidate_first[: pairs // 2]
        extend(so_far)
        at = policy.with_margin(aa_floor(blocks.same_arm_ratio()))
        interval, verdict, stop = look(blocks.log_ratios(), number, looks, at)
        if stop or not affords(looks[number + 1]):
            break
    return Outcome(interval, verdict, number + 1, at.margin, so_far)


def aa_floor(same_arm_ratio: float) -> float:
    """0.01 where one arm seems 1 % faster, or slower, than itself."""
    return math.exp(abs(math.log(same_arm_ratio))) - 1


def decide(interval: Interval, margin: float) -> PairVerdict:
    """A NaN anywhere is ``undecided``."""
    if interval.lower > 1 + margin:
        return "win"
    if interval.upper < 1 / (1 + margin):
        return "regression"
    if interval.lower >= 1 / (1 + margin) and interval.upper <= 1 + margin:
        return "no change"
    return "undecided"
