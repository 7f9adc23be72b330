"""An audit keeps to its budget, and nobody is blamed for what there was no time for."""

from __future__ import annotations

import time
from dataclasses import replace

from gating.planted import planted, reference
from kfp import audit, compare, machine
from kfp.auditing.lab import NOTHING_LEARNT, Lab, wrong
from kfp.auditing.places import Places, places_of
from kfp.gating.draws import draw_all
from kfp.gating.trials import Bench
from kfp.limits import Limits
from kfp.progress import silent
from kfp.sources import seed_source
from kfp.tasks import get_task
from kfp.timing.looks import SEARCH

SAXPY = get_task("saxpy")
ENDLESS = seed_source(SAXPY).replace("y[i] = a", "while (y[0] != 12345.0f) { y[0] += 0.0f; }\n    y[i] = a")


def lab_and_places(source: str, deadline: float) -> tuple[Lab, Places]:
    bench = Bench(machine.resolve("cpu"), "fast", Limits())
    lab = Lab(bench, SAXPY, "small", source, seed_source(SAXPY), 1, SEARCH, silent, deadline=deadline)
    return lab, places_of(lab, draw_all(SAXPY, "small", 1, source, 3, 32))


def test_nothing_is_begun_after_the_time_is_over() -> None:
    lab, places = lab_and_places(seed_source(SAXPY), time.monotonic() - 1)
    assert lab.in_pairs("gain", places.measured) == []
    # What an audit can't do without is run in any case.
    assert len(lab.right_or_wrong([*places.measured, *places.untimed])) == 4


def test_a_run_that_is_stopped_by_the_budget_is_no_fault() -> None:
    lab, places = lab_and_places(ENDLESS, time.monotonic() - 1)
    found = lab.right_or_wrong(places.measured[:1])
    assert [probe.verdict in NOTHING_LEARNT for probe in found] == [True]
    assert not any(wrong(probe) for probe in found)


def test_a_run_that_is_stopped_by_its_own_limit_is_one() -> None:
    lab, places = lab_and_places(ENDLESS, time.monotonic() + 600)
    lab.bench = replace(lab.bench, limits=Limits(run_seconds=0.5))
    assert [probe.verdict for probe in lab.right_or_wrong(places.measured[:1])] == ["timeout"]
    assert 0 < lab.reference_seconds(places.measured[0]) < 60
    lab.reference = ENDLESS
    assert lab.reference_seconds(places.measured[0]) == float("inf")


def test_a_comparison_without_time_is_open() -> None:
    found = compare(SAXPY, seed_source(SAXPY), device="cpu", scale="small", until=0.0)
    assert (found.verdict, found.configurations, found.interval) == ("undecided", (), None)
    assert "3 configurations not run" in found.reason


def test_an_audit_that_runs_out_of_its_budget_says_so() -> None:
    source = planted(SAXPY, "tuned arm")
    found = audit(SAXPY, source, reference=reference(SAXPY), device="cpu", scale="small", seed=1, budget=1e-3)
    assert found.grade in ("undecided", "unresolved")
    assert "the budget of 0.001 s was spent" in found.reason
    assert found.item("E3a").status == "not run" or "step" not in found.item("E3a").supports
