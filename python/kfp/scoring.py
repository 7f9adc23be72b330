"""From demands and ceilings to shares, from shares to the score S."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kfp.results import Ceiling, Ceilings, ConfigurationResult
from kfp.tasks.base import Demand

UNITS = {"dram": "GB/s", "fp32": "GFLOPS", "u64_multiply": "Gop/s", "u64_bit": "Gop/s", "u64_rotate": "Gop/s"}

# Above this share of a measured ceiling a figure is doubted before it is believed.
SUSPECT_SHARE = 1.05


@dataclass(frozen=True)
class Bound:
    """The demand that a configuration can't be faster than, and the ceiling that says so."""

    demand: Demand
    ceiling: Ceiling

    @property
    def seconds(self) -> float:
        return self.demand.amount / self.ceiling.per_second


def binding_bound(demands: Iterable[Demand], ceilings: Ceilings) -> Bound | None:
    """Of several demands the one that takes longest at its ceiling; None where a ceiling is unknown."""
    bounds = []
    for demand in demands:
        ceiling = ceilings.of(demand.resource)
        if ceiling is None:
            return None
        bounds.append(Bound(demand, ceiling))
    return max(bounds, key=lambda bound: bound.seconds, default=None)


def geometric_mean(shares: Sequence[float]) -> float:
    if not shares:
        raise ValueError("expected at least one share")
    if any(share <= 0 for share in shares):
        return 0.0
    return math.exp(math.fsum(math.log(share) for share in shares) / len(shares))


def score(configurations: Sequence[ConfigurationResult]) -> float | None:
    """Geometric mean of achieved/ceiling; 0 if any configuration is wrong; None if one right one has no share."""
    if not configurations or not all(row.correct for row in configurations):
        return 0.0
    shares = [row.fraction for row in configurations]
    if any(share is None for share in shares):
        return None
    return geometric_mean([share for share in shares if share is not None])
