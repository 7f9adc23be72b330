"""Rates of transfer: the published table, intervals against scipy and statsmodels, coverage, tables that are none."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import kfp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.errors import UsageError
from kfp.transfer import (
    Case,
    TransferReport,
    clustered_bootstrap,
    outcome_of,
    read_table,
    transfer_report,
    wilson,
)
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

STUDY = Path(kfp.__path__[0]) / "reporting" / "study" / "ratios.csv"


def case(task: str, gain: float = 2.0, held_out: float | None = 2.0, *, correct: bool = True, model: str = "m") -> Case:
    return Case("sci", task, model, "", gain, held_out, outcome_of(held_out, correct))


def test_the_published_table_gives_the_published_rate() -> None:
    """By the authors (arXiv 2608.08722): 16 of 53 wins don't transfer, 19.5 to 43.5 %; two of them are wrong."""
    overall = transfer_report(read_table(STUDY)).overall
    assert (overall.failures, overall.wins, overall.wrong, overall.open) == (16, 53, 2, 0)
    assert round(100 * overall.wilson_lower, 1) == 19.5
    assert round(100 * overall.wilson_upper, 1) == 43.5


def test_the_rates_agree_with_the_grades_of_the_authors() -> None:
    """Every win has a grade; those that pass are called transfers or C."""
    rows = list(csv.DictReader(line for line in STUDY.read_text().splitlines() if not line.startswith("#")))
    graded = {(r["task"], r["model"]): r["grade"] for r in rows if r["grade"]}
    report = transfer_report(read_table(STUDY))
    wins = {(c.task, c.model): c for c in report.cases if c.win}
    assert wins.keys() == graded.keys()
    for key, grade in graded.items():
        assert (wins[key].outcome == "transfers") == (grade in ("transfers", "C")), key


def test_every_rate_has_its_cases_behind_it() -> None:
    report = transfer_report(read_table(STUDY))
    for rates, of in ((report.suites, "suite"), (report.models, "model")):
        assert sum(rate.wins for rate in rates) == report.overall.wins
        for rate in rates:
            members = [c for c in report.cases if getattr(c, of) == rate.name and c.win]
            assert (len(members), sum(c.outcome != "transfers" for c in members)) == (rate.wins, rate.failures)
    assert TransferReport.from_json(report.to_json()) == report


@settings(max_examples=80, deadline=None)
@given(data=st.data(), trials=st.integers(1, 400), confidence=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_wilson_is_that_of_scipy_and_statsmodels(data: st.DataObject, trials: int, confidence: float) -> None:
    successes = data.draw(st.integers(0, trials))
    found = wilson(successes, trials, confidence)
    scipy = stats.binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    assert found == pytest.approx((scipy.low, scipy.high), abs=1e-12)
    other = proportion_confint(successes, trials, alpha=1 - confidence, method="wilson")
    assert found == pytest.approx(other, abs=1e-9)


def test_wilson_covers() -> None:
    """Exactly, over the binomial distribution: on average over the rates it holds what it promises."""
    trials = 53
    counts = np.arange(trials + 1)
    bounds = np.array([wilson(int(k), trials) for k in counts])
    coverage = [
        stats.binom.pmf(counts[(bounds[:, 0] <= p) & (p <= bounds[:, 1])], trials, p).sum()
        for p in np.linspace(0.02, 0.98, 97)
    ]
    assert np.mean(coverage) == pytest.approx(0.95, abs=0.01)
    assert min(coverage) > 0.9


def test_the_clustered_interval_is_that_of_a_plain_resampling() -> None:
    clusters = [(3, 3), (0, 3), (1, 3), (0, 2), (2, 3), (0, 3), (1, 1), (0, 3)]
    rng = np.random.default_rng(1)
    shares = []
    for _ in range(4000):
        drawn = [clusters[i] for i in rng.integers(len(clusters), size=len(clusters))]
        shares.append(sum(a for a, _ in drawn) / sum(b for _, b in drawn))
    assert clustered_bootstrap(clusters) == pytest.approx(tuple(np.quantile(shares, (0.025, 0.975))), abs=0.03)


def test_the_clustered_interval_covers_where_wilson_does_not() -> None:
    """Twenty-four tasks whose three kernels share one fate: the tasks are what is independent."""
    rng = np.random.default_rng(2)
    truth, hits, wilson_hits, repeats = 0.3, 0, 0, 300
    for _ in range(repeats):
        fates = rng.random(24) < truth
        clusters = [(3 * int(fate), 3) for fate in fates]
        interval = clustered_bootstrap(clusters, resamples=400, seed=3)
        assert interval is not None
        hits += interval[0] <= truth <= interval[1]
        lower, upper = wilson(3 * int(fates.sum()), 72)
        wilson_hits += lower <= truth <= upper
    assert hits / repeats > 0.9
    assert wilson_hits / repeats < 0.85


def test_one_task_has_no_clustered_interval() -> None:
    rate = transfer_report([case("a"), case("a", held_out=1.0)]).overall
    assert (rate.wins, rate.failures, rate.clustered_lower, rate.clustered_upper) == (2, 1, None, None)


def test_what_counts() -> None:
    cases = [
        case("a", gain=1.049),
        case("b", gain=1.05, held_out=1.05),
        case("c", held_out=1.0499),
        case("d", held_out=None, correct=False),
        case("e", held_out=math.nan),
        case("f", held_out=None),
    ]
    rate = transfer_report(cases).overall
    assert (rate.wins, rate.failures, rate.wrong, rate.open) == (3, 2, 1, 2)


def test_no_win_says_nothing() -> None:
    rate = transfer_report([case("a", gain=1.0)]).overall
    assert (rate.wins, rate.wilson_lower, rate.wilson_upper) == (0, 0.0, 1.0)
    assert math.isnan(rate.share)
    with pytest.raises(UsageError, match="at least one"):
        transfer_report([])


HEADER = "suite,task,model,in_distribution,held_out,held_out_correct\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'suite' is missing"),
        ("suite,task\n", "'model' is missing"),
        (HEADER + "sci,a,m,fast,1.0,1\n", "line 2"),
        ("# a remark\n\n" + HEADER + "sci,a,m,1.0,1.0,yes\n", "line 4"),
        (HEADER + "sci,a,m,1.0\n", "line 2"),
    ],
)
def test_tables_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_table(path)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_table(tmp_path / "none.csv")
