"""The statistics against scipy and statsmodels, and against their own definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kfp.timing.statistics import (
    Interval,
    between_variance,
    estimate,
    log_ratios,
    median_interval,
    over_configurations,
    over_processes,
    pair_interval,
    student_interval,
    student_quantile,
)
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

NORMAL = stats.norm.ppf(0.975)

finite = st.floats(-2.0, 2.0, allow_nan=False)
samples_of = st.lists(finite, min_size=10, max_size=40, unique=True).map(np.array)


@given(samples_of, st.sampled_from([0.05, 0.02, 0.01]))
def test_the_interval_is_that_of_a_median(values: np.ndarray, error: float):
    interval = pair_interval(values, error)
    expected = stats.quantile_test(values, p=0.5).confidence_interval(1 - error)
    bounds = (0.0, math.inf) if math.isnan(expected.low) else np.exp([expected.low, expected.high])
    assert [interval.lower, interval.upper] == pytest.approx(list(bounds))


@given(samples_of)
def test_the_estimate_is_the_median(values: np.ndarray):
    assert estimate(values) == pytest.approx(math.exp(np.median(values)))
    assert pair_interval(values, 0.05).ratio == pytest.approx(estimate(values))


def test_ranks_of_many_pairs():
    values = np.arange(5000.0) / 5000
    low, high = median_interval(values, 0.05)
    expected = stats.quantile_test(values, p=0.5).confidence_interval(0.95)
    assert (low, high) == (expected.low, expected.high)


@given(samples_of, finite)
def test_a_faster_candidate_moves_the_interval_and_nothing_else(values: np.ndarray, gain: float):
    before, after = pair_interval(values, 0.05), pair_interval(values + gain, 0.05)
    for one, other in ((before.ratio, after.ratio), (before.lower, after.lower), (before.upper, after.upper)):
        assert math.log(other) == pytest.approx(math.log(one) + gain, abs=1e-9)


@given(samples_of)
def test_the_two_arms_are_treated_alike(values: np.ndarray):
    there, back = pair_interval(values, 0.05), pair_interval(-values, 0.05)
    assert math.log(back.lower) == pytest.approx(-math.log(there.upper))
    assert math.log(back.upper) == pytest.approx(-math.log(there.lower))


@given(samples_of)
def test_less_error_takes_a_wider_interval(values: np.ndarray):
    loose, strict = pair_interval(values, 0.05), pair_interval(values, 0.01)
    assert strict.lower <= loose.lower <= loose.ratio <= loose.upper <= strict.upper


def test_an_error_that_so_few_pairs_cannot_have_gives_no_bound():
    interval = pair_interval(np.linspace(0.1, 0.2, 10), 0.0019)
    assert (interval.lower, interval.upper) == (0.0, math.inf)
    assert interval.half_width == math.inf
    # Both extremes of ten pairs: 2 / 1024 at least.
    bounded = pair_interval(np.linspace(0.1, 0.2, 10), 0.002)
    assert [bounded.lower, bounded.upper] == pytest.approx([math.exp(0.1), math.exp(0.2)])


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 30, 101])
@pytest.mark.parametrize("probability", [0.5, 0.75, 0.975, 0.995, 0.9999])
def test_quantiles_of_student(freedom: int, probability: float):
    assert student_quantile(probability, freedom) == pytest.approx(
        stats.t.ppf(probability, freedom), rel=1e-9, abs=1e-9
    )


@given(st.lists(finite, min_size=2, max_size=9, unique=True).map(np.array), st.sampled_from([0.05, 0.01]))
def test_few_pairs_have_the_interval_of_student(values: np.ndarray, error: float):
    interval = pair_interval(values, error)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(1 - error)
    assert math.log(interval.ratio) == pytest.approx(float(np.mean(values)), abs=1e-12)
    assert np.log([interval.lower, interval.upper]) == pytest.approx([expected.low, expected.high], abs=1e-6)


def test_one_pair_says_nothing_of_its_spread():
    interval = student_interval(np.array([0.3]), 0.05)
    assert (interval.lower, interval.upper) == (0.0, math.inf)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_duration_has_no_ratio(bad: float):
    with pytest.raises(ValueError, match="durations above 0"):
        log_ratios(np.array([1.0, bad]), np.array([1.0, 1.0]))
    with pytest.raises(ValueError, match="durations above 0"):
        log_ratios(np.array([1.0, 1.0]), np.array([bad, 1.0]))


def around(centre: float, half_width: float) -> Interval:
    return Interval(math.exp(centre), math.exp(centre - half_width), math.exp(centre + half_width), 0.95)


def test_processes_as_a_random_effect():
    """Paule and Mandel would give another variance; DerSimonian and Laird's is statsmodels' "chi2"."""
    rng = np.random.default_rng(3)
    for between in (0.0, 0.01, 0.05):
        for _ in range(20):
            errors = rng.uniform(0.005, 0.03, int(rng.integers(3, 9)))
            effects = rng.normal(0.1, between, len(errors)) + rng.normal(0, errors)
            with np.errstate(invalid="ignore"):
                expected = combine_effects(effects, errors**2, method_re="chi2", use_t=True)
            intervals = [around(e, NORMAL * error) for e, error in zip(effects, errors, strict=True)]
            whole = over_processes(intervals)
            assert between_variance(effects, errors) == pytest.approx(max(0.0, expected.tau2), abs=1e-12)
            if expected.tau2 < 0:
                # statsmodels goes on with a negative variance.
                continue
            assert math.log(whole.ratio) == pytest.approx(expected.mean_effect_re, abs=1e-9)
            # Hartung and Knapp's interval where it is the wider one, else the classical one with the same quantile.
            widest = max(expected.sd_eff_w_re_hksj, expected.sd_eff_w_re)
            reach = stats.t.ppf(0.975, len(errors) - 1) * widest
            assert math.log(whole.upper / whole.ratio) == pytest.approx(reach, rel=1e-6)
            assert math.log(whole.ratio / whole.lower) == pytest.approx(reach, rel=1e-6)


def test_coverage_over_processes_that_differ():
    """The true ratio, about which the processes scatter, is inside 95 % of the time."""
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(1000):
        effects = 0.1 + rng.normal(0, 0.01, 5) + rng.normal(0, 0.004, 5)
        whole = over_processes([around(effect, 1.96 * 0.004) for effect in effects])
        inside += whole.lower <= math.exp(0.1) <= whole.upper
    assert inside >= 930


def test_a_process_without_bounds_leaves_none():
    whole = over_processes([around(0.1, 0.01), Interval(1.1, 0.0, math.inf, 0.95), around(0.1, 0.01)])
    assert (whole.lower, whole.upper) == (0.0, math.inf)


def test_over_configurations_the_geometric_mean_and_the_standard_error_of_a_mean():
    whole = over_configurations([around(0.1, 0.03), around(0.3, 0.04)])
    assert whole is not None
    assert math.log(whole.ratio) == pytest.approx(0.2)
    assert math.log(whole.upper) == pytest.approx(0.2 + 0.025)
    assert math.log(whole.lower) == pytest.approx(0.2 - 0.025)
    assert over_configurations([]) is None


@given(st.lists(finite, min_size=1, max_size=60, unique=True).map(np.array), st.sampled_from([0.05, 0.01]))
def test_the_interval_of_a_median(values: np.ndarray, error: float):
    bounds = median_interval(values, error)
    expected = stats.quantile_test(values, p=0.5).confidence_interval(1 - error)
    if np.isnan([expected.low, expected.high]).any():
        assert bounds is None
    else:
        assert bounds == (expected.low, expected.high)
