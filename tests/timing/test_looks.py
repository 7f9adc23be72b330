"""The protocol on streams without a clock: coverage, false verdicts, stopping. All of it is deterministic."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kfp.errors import UsageError
from kfp.timing.looks import RACE, SEARCH, Policy, decide, look, measure_in_looks, schedule, spending
from kfp.timing.pairs import Blocks, first_arms, order_of
from kfp.timing.statistics import Interval
from streams import KINDS, comparison

TRIALS = 400
PAIRS = 64


@pytest.mark.parametrize("kind", KINDS)
def test_coverage_and_false_verdicts(kind: str):
    """Sequential looks, drops and all: the true ratio is in 93 % of the intervals that claim 95."""
    inside, verdicts = 0, Counter[str]()
    for seed in range(TRIALS):
        outcome, _ = comparison(KINDS[kind], 1.0, SEARCH, PAIRS, seed)
        verdicts[outcome.verdict] += 1
        inside += outcome.interval.lower <= 1.0 <= outcome.interval.upper
    assert inside >= 0.93 * TRIALS
    assert verdicts["win"] + verdicts["regression"] <= 0.01 * TRIALS


@pytest.mark.parametrize("kind", KINDS)
def test_a_loss_of_one_percent_never_wins(kind: str):
    outcomes = [comparison(KINDS[kind], 0.99, SEARCH, PAIRS, seed)[0] for seed in range(100)]
    assert not any(outcome.verdict == "win" for outcome in outcomes)


def test_a_gain_of_three_percent_wins_through_three_percent_of_noise():
    outcomes = [comparison(KINDS["independent"], 1.03, SEARCH, 384, seed)[0] for seed in range(60)]
    assert sum(outcome.verdict == "win" for outcome in outcomes) >= 54


@pytest.mark.parametrize("ratio", [1.25, 0.8])
def test_a_large_difference_is_found_whatever_the_noise(ratio: float):
    verdict = "win" if ratio > 1 else "regression"
    for kind in ("independent", "bimodal", "drift", "spikes", "heavy_tails", "autocorrelated"):
        found = [comparison(KINDS[kind], ratio, SEARCH, PAIRS, seed)[0].verdict for seed in range(20)]
        assert found.count(verdict) >= 19, kind


def test_clear_losers_are_stopped_first():
    losing = [comparison(KINDS["independent"], 0.7, SEARCH, 384, seed)[0].looks for seed in range(20)]
    winning = [comparison(KINDS["independent"], 1 / 0.7, SEARCH, 384, seed)[0].looks for seed in range(20)]
    racing = [comparison(KINDS["independent"], 1 / 0.7, RACE, 384, seed)[0].looks for seed in range(20)]
    assert max(losing) <= 2
    assert max(racing) <= 2
    assert min(winning) > 2


def test_without_an_answer_the_cap_ends_in_undecided():
    outcome, _ = comparison(KINDS["bimodal_per_sample"], 1.0, SEARCH, 16, 0)
    assert outcome.verdict == "undecided"


def test_a_stop_for_lack_of_time_keeps_what_was_found():
    blocks = Blocks()

    def extend(candidate_first: np.ndarray) -> None:
        new = candidate_first[len(blocks) :]
        blocks.add(new, np.where(order_of(new) == 1, 0.5, 1.0), 1, 1)

    outcome = measure_in_looks(blocks, extend, lambda pairs: pairs <= 32, 512, 3, Policy(half_width=1e-9))
    assert (len(blocks), outcome.looks, outcome.verdict) == (16, 2, "win")
    assert outcome.interval.ratio == pytest.approx(2.0)


def test_the_same_seed_gives_the_same_comparison():
    one, other, third = (comparison(KINDS["spikes"], 1.02, SEARCH, PAIRS, seed)[0] for seed in (5, 5, 6))
    assert one.interval == other.interval
    assert one.candidate_first.tolist() == other.candidate_first.tolist()
    assert one.interval != third.interval


@given(st.integers(1, 3000))
def test_looks_double_up_to_the_budget_in_whole_blocks(most: int):
    looks = schedule(most)
    assert all(n % 2 == 0 for n in looks)
    assert list(looks) == sorted(set(looks))
    assert looks[-1] in (most, most - 1) or looks[-1] == 4
    assert all(later <= 3 * earlier for earlier, later in itertools.pairwise(looks))


@given(st.integers(4, 3000), st.floats(0.001, 0.2))
def test_what_the_looks_spend_adds_up(most: int, error: float):
    looks = schedule(most)
    spent = spending(looks, error)
    assert len(spent) == len(looks)
    assert all(part > 0 for part in spent)
    assert sum(spent) == pytest.approx(error)


@pytest.mark.parametrize(
    ("lower", "upper", "verdict"),
    [
        (1.011, 1.02, "win"),
        (1.01, 1.02, "undecided"),
        (0.98, 0.99, "regression"),
        (0.98, 0.991, "undecided"),
        (0.995, 1.005, "no change"),
        (0.98, 1.02, "undecided"),
        (float("nan"), float("nan"), "undecided"),
        (0.0, float("inf"), "undecided"),
    ],
)
def test_verdicts_at_a_margin_of_one_percent(lower: float, upper: float, verdict: str):
    assert decide(Interval(1.0, lower, upper, 0.95), 0.01) == verdict


def test_a_wider_floor_takes_a_larger_gain():
    gain = np.full(64, np.log(1.02))
    assert look(gain, 2, (16, 32, 64), SEARCH).verdict == "win"
    assert look(gain, 2, (16, 32, 64), SEARCH.with_margin(0.03)).verdict == "no change"
    assert SEARCH.with_margin(0.001).margin == SEARCH.margin


@pytest.mark.parametrize(
    "wrong", [{"seconds": 0}, {"half_width": float("nan")}, {"error": 1.0}, {"confidence": 95}, {"most_pairs": 2}]
)
def test_a_policy_that_makes_no_sense(wrong: dict[str, float]):
    with pytest.raises(UsageError, match="policy: expected"):
        Policy(**wrong)  # type: ignore[arg-type]


def test_first_arms_are_fair_and_a_longer_sequence_begins_the_same():
    first = first_arms(11, 4000)
    assert 0.47 < first.mean() < 0.53
    assert first_arms(11, 10).tolist() == first[:10].tolist()
    # No arm's turn can be told from the one before.
    assert 0.47 < (first[1:] == first[:-1]).mean() < 0.53


def test_blocks_are_abba_or_baab_with_a_sentinel_between():
    letters = "".join("ABs"[i] for i in order_of(np.array([False, True])))
    assert letters == "sABBAsBAABs"


def test_samples_go_to_their_arms_in_the_order_of_the_pairs():
    blocks = Blocks()
    blocks.add(np.array([False, True]), np.array([9.0, 1, 2, 3, 4, 9, 5, 6, 7, 8, 9]), 1, 3)
    assert blocks.reference.tolist() == [[1, 4], [6, 7]]
    assert blocks.candidate.tolist() == [[2, 3], [5, 8]]
    assert blocks.sentinels.tolist() == [3, 3, 3]


def test_whole_blocks_are_dropped_where_the_sentinel_was_slow():
    blocks = Blocks()
    candidate_first = np.zeros(10, dtype=bool)
    samples = np.where(order_of(candidate_first) == 2, 1.0, 5.0)
    samples[5 * 4] = 2.0  # between the fourth block and the fifth
    blocks.add(candidate_first, samples, 1, 1)
    assert np.flatnonzero(blocks.lost()).tolist() == [3, 4]
    assert len(blocks.log_ratios()) == 16


def test_where_too_much_is_lost_nothing_is_dropped():
    blocks = Blocks()
    candidate_first = np.zeros(10, dtype=bool)
    samples = np.where(order_of(candidate_first) == 2, 1.0, 5.0)
    samples[[5, 15, 25, 35]] = 2.0
    blocks.add(candidate_first, samples, 1, 1)
    assert blocks.lost().sum() == 8
    assert blocks.kept().all()
    assert len(blocks.log_ratios()) == 20
