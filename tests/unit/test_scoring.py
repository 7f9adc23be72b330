from __future__ import annotations

from dataclasses import replace

import constructed
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kfp.results import Ceiling, Ceilings
from kfp.scoring import binding_bound, geometric_mean, score
from kfp.tasks.base import Demand
from scipy.stats import gmean

CEILINGS = Ceilings(
    "cpu", "", "", (Ceiling("dram", 10e9, "measured on this device"), Ceiling("fp32", 50e9, "measured")), 1e-6
)


@given(st.lists(st.floats(1e-12, 10.0), min_size=1, max_size=20))
def test_geometric_mean(shares: list[float]) -> None:
    assert geometric_mean(shares) == pytest.approx(gmean(shares), rel=1e-12)


def test_geometric_mean_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        geometric_mean([])


def test_one_wrong_configuration_makes_the_score_zero() -> None:
    assert score(constructed.WRONG.configurations) == 0.0


def test_nothing_run_scores_zero() -> None:
    assert score(()) == 0.0


def test_an_untimed_configuration_leaves_no_score() -> None:
    rows = constructed.RIGHT.configurations
    assert score((*rows, replace(rows[0], fraction=None))) is None


def test_the_demand_that_takes_longest_binds() -> None:
    compute_bound = binding_bound((Demand("dram", 1e9), Demand("fp32", 20e9)), CEILINGS)
    assert compute_bound is not None
    assert compute_bound.demand.resource == "fp32"
    assert compute_bound.seconds == pytest.approx(0.4)
    memory_bound = binding_bound((Demand("dram", 1e9), Demand("fp32", 1e9)), CEILINGS)
    assert memory_bound is not None
    assert memory_bound.demand.resource == "dram"


def test_an_unknown_ceiling_gives_no_bound() -> None:
    assert binding_bound((Demand("dram", 1e9), Demand("u64_bit", 1e9)), CEILINGS) is None
    assert binding_bound((), CEILINGS) is None
