"""The verdict is a pure function of what was measured: held against made-up measurements, no kernel runs here."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.gating.results import GateVerdict, HeldOut, Trial
from kfp.gating.verdicts import Decision, decide, in_doubt, place, ranked, standing
from kfp.results import Device, Verdict
from kfp.tasks.base import Origin
from kfp.timing.results import ArmTiming, Comparison, ComparisonVerdict, ConfigurationComparison
from kfp.timing.statistics import Interval

THRESHOLD = 1.05
DEVICE = Device("cpu", "made up", "", True, "", False, 1e-9, 1024, 32, 32768)


def interval(ratio: float, spread: float = 0.01) -> Interval:
    return Interval(ratio, ratio * (1 - spread), ratio * (1 + spread), 0.95)


def row(
    label: str, ratio: float | None, origin: Origin = "drawn", spread: float = 0.01, verdict: ComparisonVerdict = "win"
) -> ConfigurationComparison:
    timed = ratio is not None
    return ConfigurationComparison(
        label=label,
        parameters={"N": 1},
        origin=origin,
        seed=0,
        verdict=verdict,
        reason="" if timed else f"so it is {verdict}",
        interval=interval(ratio, spread) if ratio is not None else None,
        margin=0.05,
        aa_floor=0.0,
        pairs=16,
        drops=0,
        reference=ArmTiming(1.0, 1.0, 1.0) if timed else None,
        candidate=ArmTiming(1.0 / ratio, 1.0, 1.0) if ratio else None,
        processes=(),
        flags=(),
    )


def search(
    ratio: float | None = 2.0, verdict: ComparisonVerdict = "win", reason: str = "", spread: float = 0.01
) -> Comparison:
    return Comparison(
        task="saxpy",
        device=DEVICE,
        scale="small",
        seed=0,
        math="fast",
        grade="claim",
        cache="warm",
        verdict=verdict,
        reason=reason,
        interval=interval(ratio, spread) if ratio is not None else None,
        margin=0.05,
        configurations=(row("N=1", ratio, "in_distribution", spread),),
        diagnostics=(),
        reference_name="seed",
        reference_sha256="",
        candidate_sha256="",
        kfp_version="",
    )


def trial(verdict: Verdict = "right", *, counts: bool = True) -> Trial:
    return Trial("draw 9: N=7", {"N": 7}, 1, "own", 0, 0, False, counts, verdict, "first at [3]: expected 1, got 2")


def held_out(published: float | None, *draws: float | None, spread: float = 0.01) -> list[HeldOut]:
    rows = [row("published", published, "published_held_out", spread)]
    rows += [row(f"draw {number}", ratio, "drawn", spread) for number, ratio in enumerate(draws, start=1)]
    return [_held_out(one) for one in rows]


def _held_out(one: ConfigurationComparison, share: float | None = None, seed_share: float | None = None) -> HeldOut:
    where = standing(one, THRESHOLD, share, seed_share)
    return HeldOut(one.label, one.parameters, one.origin, 0, "own", where, one.interval, share, seed_share, one.reason)


@pytest.mark.parametrize(
    ("published", "draws", "verdict"),
    [
        (2.0, (2.0, 2.0, 2.0), "transfers"),
        (1.1, (1.1, 1.2, 1.3), "transfers"),
        # Mode A: tuned for what the search saw.
        (1.0, (1.0, 1.0, 1.0), "does not transfer"),
        (0.9, (1.0, 0.8, 1.0), "does not transfer"),
        # Mode C: the published point is enumerated.
        (3.0, (1.0, 1.0, 1.0), "does not transfer"),
        # An arm that accepts some draws: the mean would look like a gain.
        (3.0, (10.0, 1.0, 1.0), "does not transfer"),
        (3.0, (10.0, 10.0, 1.0), "undecided"),
        (1.0, (2.0, 2.0, 2.0), "does not transfer"),
        # Above one, below the threshold.
        (1.03, (1.03, 1.03, 1.03), "does not transfer"),
    ],
)
def test_the_transfer_verdict(published: float, draws: tuple[float, ...], verdict: str) -> None:
    assert decide(search(), [trial()], held_out(published, *draws), THRESHOLD).verdict == verdict


def test_the_interval_decides_not_the_point() -> None:
    wide = held_out(1.2, 1.2, 1.2, 1.2, spread=0.15)
    assert decide(search(), [trial()], wide, THRESHOLD).verdict == "undecided"
    narrow = held_out(1.07, 1.07, 1.07, 1.07, spread=0.01)
    assert decide(search(), [trial()], narrow, THRESHOLD).verdict == "transfers"


@pytest.mark.parametrize("verdict", ["wrong", "crash", "timeout", "fault", "pipeline error"])
def test_one_wrong_draw_is_wrong(verdict: Verdict) -> None:
    trials = [*(trial() for _ in range(31)), trial(verdict)]
    found = decide(search(), trials, held_out(2.0, 2.0, 2.0, 2.0), THRESHOLD)
    assert found.verdict == "wrong"
    assert "1 of 32 untimed runs" in found.reason
    assert "expected 1, got 2" in found.reason


def test_what_the_contract_does_not_ask_for_decides_nothing() -> None:
    trials = [trial(), trial("wrong", counts=False)]
    assert decide(search(), trials, held_out(2.0, 2.0, 2.0, 2.0), THRESHOLD).verdict == "transfers"


def test_wrong_comes_before_slow() -> None:
    rows = held_out(1.0, 1.0, 1.0)
    wrong = _held_out(row("draw 9", None, verdict="wrong"))
    assert decide(search(), [trial()], [*rows, wrong], THRESHOLD).verdict == "wrong"
    assert decide(search(None, "crash", "N=1: it crashed"), [trial()], [], THRESHOLD).verdict == "wrong"


@pytest.mark.parametrize("verdict", ["unmeasurable", "unstable", "reference"])
def test_a_clock_that_fails_is_not_the_kernels_fault(verdict: ComparisonVerdict) -> None:
    rows = [*held_out(2.0, 2.0, 2.0), _held_out(row("draw 3", None, verdict=verdict))]
    found = decide(search(), [trial()], rows, THRESHOLD)
    assert found.verdict == "undecided"
    assert "draw 3" in found.reason
    assert decide(search(None, verdict, "no clock"), [trial()], rows, THRESHOLD).verdict == "undecided"


@pytest.mark.parametrize(
    ("ratio", "spread", "doubted"),
    [
        (1.0, 0.01, True),
        (0.78, 0.05, True),
        (0.62, 0.01, True),
        (0.5, 0.05, False),
        (1.0, 0.2, False),
        (2.0, 0.1, False),
    ],
)
def test_a_gain_is_not_lost_by_one_busy_moment(ratio: float, spread: float, doubted: bool) -> None:
    """What is delayed by other work is delayed for both kernels, so that a ratio of 1 may be that of the delays."""
    assert in_doubt([row("sure", 2.0), row("a", ratio, spread=spread)], THRESHOLD) == doubted


def test_what_could_not_be_measured_is_not_in_doubt() -> None:
    assert not in_doubt([row("draw", None, verdict="unstable")], THRESHOLD)


def test_without_a_gain_nothing_can_transfer() -> None:
    """A device without head-room: an honest kernel must not be called one that does not transfer."""
    for ratio in (0.7, 1.0, 1.04, 1.05):
        assert decide(search(ratio), [trial()], held_out(1.0, 1.0, 1.0, 1.0), THRESHOLD).verdict == "undecided"


def test_at_the_limit_of_the_device_there_was_nothing_to_gain() -> None:
    rows = [_held_out(replace(row(f"draw {n}", 1.0)), 0.95, 0.94) for n in range(3)]
    rows.append(_held_out(row("published", 1.0, "published_held_out"), 0.95, 0.94))
    assert {one.standing for one in rows} == {"saturated"}
    found = decide(search(), [trial()], rows, THRESHOLD)
    assert found.verdict == "undecided"
    assert "limit" in found.reason
    # Either alone at the limit is not enough.
    assert _held_out(row("draw", 1.0), 0.95, 0.5).standing == "below"


@pytest.mark.parametrize("bound", [math.nan, -math.inf, math.inf])
def test_bounds_that_are_no_numbers_decide_nothing(bound: float) -> None:
    assert place(Interval(1.0, 0.0, math.inf, 0.95), THRESHOLD) == "across"
    assert place(Interval(2.0, math.nan, math.nan, 0.95), THRESHOLD) == "across"
    assert place(Interval(2.0, 1.0, bound if bound > 0 else math.nan, 0.95), THRESHOLD) == "across"


@pytest.mark.parametrize("verdict", ["transfers", "does not transfer", "wrong", "undecided"])
def test_a_virtual_gpu_ranks_nothing(verdict: GateVerdict) -> None:
    decision = Decision(verdict, "because")
    assert ranked(decision, DEVICE) == decision
    virtual = ranked(decision, replace(DEVICE, is_virtual=True))
    assert virtual.verdict == ("wrong" if verdict == "wrong" else "undecided")


RATIOS = st.floats(0.2, 5.0)


@settings(max_examples=100, deadline=None)
@given(
    gain=RATIOS,
    published=RATIOS,
    draws=st.lists(RATIOS, min_size=3, max_size=8),
    spread=st.floats(0.0, 0.5),
)
def test_transfers_only_if_every_interval_is_above(
    gain: float, published: float, draws: list[float], spread: float
) -> None:
    rows = held_out(published, *draws, spread=spread)
    found = decide(search(gain, spread=spread), [trial()], rows, THRESHOLD)
    above = all(ratio * (1 - spread) > THRESHOLD for ratio in (gain, published, *draws))
    assert (found.verdict == "transfers") == above
    assert found.reason
    assert decide(search(gain, spread=spread), [trial("wrong")], rows, THRESHOLD).verdict == "wrong"
