"""From trials and comparisons to the transfer verdict: pure functions of what was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kfp.gating.results import GateVerdict, HeldOut, Standing, Trial
from kfp.gating.variations import Law
from kfp.results import Device
from kfp.tables import significant
from kfp.timing.results import Comparison, ConfigurationComparison
from kfp.timing.statistics import Interval

# Both kernels this close to a measured ceiling: there was nothing left to gain.
SATURATED = 0.9
# A choice: what other work has been seen to do to a ratio in all processes of a comparison took it from 2.6 to 0.8.
CLEARLY_SLOWER = 0.6

# Neither says that the kernel is wrong: no trustworthy clock, or a seed that fails.
NOT_ITS_FAULT = ("unmeasurable", "unstable", "reference")

Share = Callable[[ConfigurationComparison, float], "float | None"]


class Decision(NamedTuple):
    verdict: GateVerdict
    reason: str


def held_out_row(row: ConfigurationComparison, law: Law, threshold: float, share: Share) -> HeldOut:
    """``share`` gives achieved/ceiling of a configuration that took so many seconds."""
    mine = share(row, row.candidate.seconds) if row.candidate else None
    seeds = share(row, row.reference.seconds) if row.reference else None
    return HeldOut(
        label=row.label,
        parameters=row.parameters,
        origin=row.origin,
        seed=row.seed,
        law=law,
        standing=standing(row, threshold, mine, seeds),
        interval=row.interval,
        share=mine,
        seed_share=seeds,
        detail=row.reason,
    )


def standing(row: ConfigurationComparison, threshold: float, share: float | None, seed_share: float | None) -> Standing:
    if row.interval is None:
        return "unmeasured" if row.verdict in NOT_ITS_FAULT else "wrong"
    by_interval = place(row.interval, threshold)
    if by_interval != "above" and min(share or 0.0, seed_share or 0.0) >= SATURATED:
        return "saturated"
    return by_interval


def place(interval: Interval, threshold: float) -> Standing:
    """A NaN, and a bound that is no number, leaves it open."""
    if interval.lower > threshold:
        return "above"
    return "below" if interval.upper <= threshold else "across"


def in_doubt(rows: Sequence[ConfigurationComparison], threshold: float) -> bool:
    """Whether a gain that seems to be lost has to be measured again before it counts as lost.

    A busy machine draws ratios towards 1, since what it delays it delays for both kernels, and it may do so to all the
    processes of some seconds: no interval shows that. A loss beyond ``CLEARLY_SLOWER`` is none of its accidents.
    """
    intervals = [row.interval for row in rows if row.interval is not None]
    return any(place(one, threshold) == "below" and one.upper > CLEARLY_SLOWER for one in intervals)


def decide(
    in_distribution: Comparison, trials: Sequence[Trial], held_out: Sequence[HeldOut], threshold: float
) -> Decision:
    """Wrong anywhere is ``wrong``. ``transfers``: faster by more than the threshold in distribution, at the published
    point and on every draw. ``does not transfer``: not so at the published point or on half of the draws.

    On every draw, not on their mean: a kernel that is ten times as fast for the third of the draws that an arm of it
    happens to accept has a mean that looks like a gain.
    """
    wrong = _first_wrong(in_distribution, trials, held_out)
    if wrong:
        return Decision("wrong", wrong)
    if in_distribution.interval is None:
        return Decision("undecided", f"no gain could be measured in distribution: {in_distribution.reason}")
    gain = place(in_distribution.interval, threshold)
    if gain != "above":
        found = "no" if gain == "below" else "perhaps no"
        return Decision(
            "undecided", f"there is {found} gain of {percent(threshold)} in distribution that could transfer"
        )
    draws = [row for row in held_out if row.origin == "drawn"]
    below = [row for row in draws if row.standing == "below"]
    published = next(row for row in held_out if row.origin == "published_held_out")
    lost = [row for row in (published, *below) if row.standing == "below"]
    if published.standing == "below" or 2 * len(below) >= max(len(draws), 1):
        where = "; ".join(f"{row.label} ({_ratio(row)})" for row in lost[:3])
        return Decision("does not transfer", f"not {percent(threshold)} faster at {where}")
    if lost:
        return Decision("undecided", f"faster on some draws, not at {lost[0].label} ({_ratio(lost[0])})")
    open_rows = [row for row in held_out if row.standing != "above"]
    if open_rows:
        return Decision("undecided", "; ".join(f"{row.label}: {_why(row)}" for row in open_rows[:3]))
    return Decision("transfers", f"more than {percent(threshold)} faster at every held-out configuration")


def ranked(decision: Decision, device: Device) -> Decision:
    """What rests on times counts only where they can be ranked."""
    if device.is_virtual and decision.verdict in ("transfers", "does not transfer"):
        return Decision("undecided", "the times of a virtual GPU can't be ranked")
    return decision


def _first_wrong(in_distribution: Comparison, trials: Sequence[Trial], held_out: Sequence[HeldOut]) -> str:
    bad = [trial for trial in trials if trial.counts and trial.verdict != "right"]
    rows = [row for row in held_out if row.standing == "wrong"]
    if in_distribution.interval is None and in_distribution.verdict not in NOT_ITS_FAULT:
        return f"in distribution: {in_distribution.verdict}: {in_distribution.reason}"
    if rows:
        return f"{rows[0].label}: {rows[0].detail}"
    if bad:
        counted = sum(trial.counts for trial in trials)
        first = bad[0]
        how = ", checked" if first.checked else ""
        return f"{len(bad)} of {counted} untimed runs; {first.label}{how}: {first.verdict}: {first.detail}"
    return ""


def percent(threshold: float) -> str:
    return f"{100 * (threshold - 1):.3g} %"


def _ratio(row: HeldOut) -> str:
    assert row.interval is not None
    return f"{significant(row.interval.ratio)} times as fast"


def _why(row: HeldOut) -> str:
    if row.standing == "saturated":
        return "both kernels are at the device's limit"
    if row.interval is None:
        return row.detail
    return f"{_ratio(row)}, the interval holds the threshold"
