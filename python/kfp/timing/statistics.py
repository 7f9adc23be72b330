"""From paired samples to a ratio and its interval. Pure functions of arrays; no clock, no randomness.

A pair's log ratio is log(reference time) - log(candidate time): above 0 the candidate is faster. Which arm of a block
runs first is drawn at random, so that whatever the machine does in the meantime (drift, clock states, spikes) is as
likely to favour one arm as the other: log ratios are symmetric about the true one. That symmetry is all that the
signed-rank interval needs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from kfp.records import Record

Floats = npt.NDArray[np.float64]

# With fewer pairs no signed-rank interval has the confidence that a verdict needs.
FEWEST_RANKED_PAIRS = 8


@dataclass(frozen=True, eq=False)
class Interval(Record):
    """How many times faster than the reference, with the bounds of a confidence interval. A bound may be 0 or inf."""

    ratio: float
    lower: float
    upper: float
    confidence: float

    @property
    def half_width(self) -> float:
        """Relative: 0.005 is half a percent to either side."""
        if not (self.lower > 0 and self.upper < math.inf):
            return math.inf
        return 0.5 * (math.log(self.upper) - math.log(self.lower))


def log_ratios(reference: Floats, candidate: Floats) -> Floats:
    """Of samples in pairs. Raises ``ValueError`` for a duration that is none."""
    for seconds in (reference, candidate):
        # Written so that a NaN fails.
        if not bool(np.all((seconds > 0) & (seconds < np.inf))):
            raise ValueError("expected finite durations above 0")
    return np.log(reference) - np.log(candidate)


def pair_interval(values: Floats, error: float) -> Interval:
    """Of log ratios: signed ranks where there are enough of them, else Student's t. ``error`` is two-sided."""
    return pair_intervals(values, (error,))[0]


def pair_intervals(values: Floats, errors: Sequence[float]) -> tuple[Interval, ...]:
    """The same for several errors at once."""
    if len(values) < FEWEST_RANKED_PAIRS:
        return tuple(student_interval(values, error) for error in errors)
    averages = _pairwise_means(values)
    return tuple(_signed_rank_interval(averages, len(values), error) for error in errors)


def estimate(values: Floats) -> float:
    """The ratio alone."""
    return _exp(_middle(_pairwise_means(values)))


def _signed_rank_interval(averages: Floats, count: int, error: float) -> Interval:
    """The Hodges-Lehmann estimate and the interval of Wilcoxon's signed-rank test, exact for symmetric values.

    Hollander, Wolfe & Chicken, Nonparametric Statistical Methods (3rd ed.), 3.2 and 3.3. Without a bound at this
    ``error`` the interval is everything.
    """
    cut = _signed_rank_cut(count, error)
    lower, upper = (averages[cut - 1], averages[-cut]) if cut else (-math.inf, math.inf)
    return _interval(_middle(averages), float(lower), float(upper), error)


def _pairwise_means(values: Floats) -> Floats:
    """Walsh averages: of every two values, each with itself included; sorted."""
    rows, columns = _every_two(len(values))
    return np.sort(0.5 * (values[rows] + values[columns]))


def _middle(ordered: Floats) -> float:
    """The median of sorted values."""
    half = len(ordered) // 2
    return float(ordered[half]) if len(ordered) % 2 else float(0.5 * (ordered[half - 1] + ordered[half]))


@lru_cache(maxsize=16)
def _every_two(count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return np.triu_indices(count)


@lru_cache(maxsize=1024)
def _signed_rank_cut(count: int, error: float) -> int:
    """The largest k with P(rank sum < k) <= error / 2; every rank counts with probability one half."""
    total = np.zeros(count * (count + 1) // 2 + 1)
    total[0] = 1.0
    for rank in range(1, count + 1):
        total[rank:] = 0.5 * (total[rank:] + total[:-rank])
        total[:rank] *= 0.5
    return int(np.searchsorted(np.cumsum(total), error / 2, side="right"))


def median_interval(values: Floats, error: float) -> tuple[float, float] | None:
    """Bounds for the median of independent values, from their order alone; None where there are too few.

    Ranks k and n + 1 - k, with k the largest for which the binomial tail P(B < k) is at most error / 2 (David &
    Nagaraja, Order Statistics, 7.1).
    """
    count = len(values)
    tail, rank = 0.0, 0
    while (tail := tail + math.comb(count, rank) * 0.5**count) <= error / 2:
        rank += 1
    if rank == 0:
        return None
    ordered = np.sort(values)
    return float(ordered[rank - 1]), float(ordered[-rank])


def student_interval(values: Floats, error: float) -> Interval:
    """Mean and t interval: for the few pairs of a long kernel, whose log ratios have to pass for normal."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return _interval(mean, -math.inf, math.inf, error)
    reach = student_quantile(1 - error / 2, len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return _interval(mean, mean - reach, mean + reach, error)


def _interval(centre: float, lower: float, upper: float, error: float) -> Interval:
    return Interval(_exp(centre), _exp(lower), _exp(upper), 1 - error)


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0)) if value < math.inf else math.inf


@lru_cache(maxsize=1024)
def student_quantile(probability: float, freedom: int) -> float:
    """Of Student's t with a whole number of degrees of freedom, for probabilities from one half up."""
    low, high = 0.0, 1.0
    while _student_central(high, freedom) < 2 * probability - 1:
        high *= 2
    for _ in range(100):
        middle = 0.5 * (low + high)
        if _student_central(middle, freedom) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return high


def _student_central(t: float, freedom: int) -> float:
    """P(|T| < t): Abramowitz & Stegun 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine = math.cos(angle)
    term, series = 1.0, 0.0
    if freedom % 2:
        term = cosine
        for k in range(1, (freedom - 1) // 2 + 1):
            series += term
            term *= cosine**2 * (2 * k) / (2 * k + 1)
        return 2 / math.pi * (angle + math.sin(angle) * series)
    for k in range(1, freedom // 2 + 1):
        series += term
        term *= cosine**2 * (2 * k - 1) / (2 * k)
    return math.sin(angle) * series


def over_configurations(intervals: list[Interval]) -> Interval | None:
    """The geometric mean of independent ratios; None without any. Each bound's distance adds up in quadrature."""
    if not intervals:
        return None
    centre = math.fsum(math.log(one.ratio) for one in intervals)
    below = math.sqrt(math.fsum(_distance(one.ratio, one.lower) ** 2 for one in intervals))
    above = math.sqrt(math.fsum(_distance(one.ratio, one.upper) ** 2 for one in intervals))
    n = len(intervals)
    return _interval(centre / n, (centre - below) / n, (centre + above) / n, 1 - intervals[0].confidence)


def _distance(ratio: float, bound: float) -> float:
    return abs(math.log(ratio) - math.log(bound)) if 0 < bound < math.inf else math.inf


def over_processes(intervals: list[Interval]) -> Interval:
    """The process as a random effect: what a ratio measured in a further fresh process would scatter about.

    DerSimonian & Laird (1986) for the variance between processes; Hartung & Knapp (2001) for the interval, never
    narrower than the classical one (Röver, Knapp & Friede 2015). A process's own standard error is its half-width
    over the normal quantile.
    """
    error = 1 - intervals[0].confidence
    quantile = NormalDist().inv_cdf(1 - error / 2)
    effects = np.array([math.log(one.ratio) for one in intervals])
    errors = np.array([max(one.half_width / quantile, 1e-9) for one in intervals])
    if len(intervals) < 2 or not bool(np.all(np.isfinite(errors))):
        return _interval(float(np.mean(effects)), -math.inf, math.inf, error)
    weights = 1 / (errors**2 + between_variance(effects, errors))
    centre = float(np.sum(weights * effects) / np.sum(weights))
    freedom = len(effects) - 1
    scatter = float(np.sum(weights * (effects - centre) ** 2)) / freedom
    reach = student_quantile(1 - error / 2, freedom) * math.sqrt(max(scatter, 1.0) / float(np.sum(weights)))
    return _interval(centre, centre - reach, centre + reach, error)


def between_variance(effects: Floats, errors: Floats) -> float:
    """DerSimonian and Laird's estimate, not below 0."""
    weights = 1 / errors**2
    total = float(np.sum(weights))
    centre = float(np.sum(weights * effects)) / total
    excess = float(np.sum(weights * (effects - centre) ** 2)) - (len(effects) - 1)
    return max(0.0, excess / (total - float(np.sum(weights**2)) / total))
