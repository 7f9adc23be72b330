"""Which losses are measured again, and what becomes of the evidence then."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kfp import machine
from kfp.auditing.findings import Findings
from kfp.auditing.lab import Lab
from kfp.auditing.places import Places, places_of
from kfp.auditing.points import Point
from kfp.auditing.results import Probe
from kfp.gating.draws import draw_all
from kfp.gating.trials import Bench
from kfp.gating.verdicts import CLEARLY_SLOWER
from kfp.limits import Limits
from kfp.progress import silent
from kfp.tasks import get_task
from kfp.timing.looks import SEARCH
from kfp.timing.statistics import Interval

GAIN = 8.0
LOST = 1.0
CLEARLY_LOST = CLEARLY_SLOWER / 2


@pytest.fixture(scope="module")
def places() -> Places:
    task = get_task("saxpy")
    lab = Lab(Bench(machine.resolve("cpu"), "fast", Limits()), task, "small", "a source", "another", 1, SEARCH, silent)
    return places_of(lab, draw_all(task, "small", 1, "a source", 3, 32))


def probe(point: Point, ratio: float, width: float = 1.02) -> Probe:
    return Probe(
        label=point.label,
        parameters=point.configuration.parameters,
        origin=point.configuration.origin,
        seed=0,
        law="own",
        axis=point.axis,
        beside=point.beside,
        verdict="undecided",
        detail="",
        interval=Interval(ratio, ratio / width, ratio * width, 0.95),
        seconds=None,
        reference_seconds=None,
        work=None,
    )


def findings(places: Places, *, published: float = GAIN, draws: float = GAIN, beside: float = GAIN) -> Findings:
    found = Findings(places, 1.05)
    found.gains = {point.label: probe(point, GAIN) for point in places.measured}
    found.gains[places.published.label] = probe(places.published, published)
    found.gains |= {point.label: probe(point, draws) for point in places.timed}
    centre = places.measured[0].label
    found.swept = [(point, probe(point, beside)) for point in places.neighbours[centre] if point.step == "far"]
    assert {point.side for point, _ in found.swept} == {-1, 1}
    found.conditions["E3d"] = [(point, probe(point, draws)) for point in places.laws_at(places.measured[0])]
    assert found.conditions["E3d"]
    for judge in (found.judge_held_out, found.judge_neighbours):
        judge()
    found.judge_condition("E3d")
    return found


ALL = ("E1", "E3a", "E3d")


def test_a_gain_that_is_kept_is_not_asked_for_again(places: Places) -> None:
    assert findings(places).doubtful(ALL) == {}


def test_what_is_lost_is_in_doubt_unless_it_is_much_slower(places: Places) -> None:
    found = findings(places, published=LOST, draws=LOST, beside=LOST)
    doubtful = found.doubtful(ALL)
    assert set(doubtful) == set(ALL)
    assert doubtful["E1"] == [places.published, *places.timed]
    assert set(found.doubtful(("E3a",))) == {"E3a"}
    clearly = findings(places, published=CLEARLY_LOST, draws=CLEARLY_LOST, beside=CLEARLY_LOST)
    assert clearly.doubtful(ALL) == {}


def test_a_neighbour_that_loses_a_part_of_the_gain_is_in_doubt(places: Places) -> None:
    found = findings(places, draws=1.5, beside=1.5)
    assert "step" in found.words()
    assert set(found.doubtful(ALL)) == {"E3a"}


def test_a_wrong_answer_is_never_in_doubt(places: Places) -> None:
    found = findings(places, published=LOST)
    label = places.published.label
    found.gains[label] = replace(found.gains[label], verdict="wrong")
    assert found.doubtful(ALL) == {}


def test_what_is_measured_again_takes_the_place_of_what_was(places: Places) -> None:
    found = findings(places, published=LOST, draws=LOST, beside=LOST)
    assert {"lost at published", "lost off menu", "step", "data collapse"} <= found.words()
    for kind, points in found.doubtful(ALL).items():
        found.measured_again(kind, [probe(point, GAIN) for point in points])
    assert {"kept at published", "kept off menu", "smooth", "data holds"} <= found.words()
    assert not found.words() & {"lost at published", "lost off menu", "step", "data collapse"}


def test_a_loss_that_two_measurements_leave_open_is_none(places: Places) -> None:
    found = findings(places, draws=LOST)
    found.measured_again("E1", [probe(point, 2.0, width=3.0) for point in found.doubtful(("E1",))["E1"]])
    assert "off menu open" in found.words()
    assert "lost off menu" not in found.words()


def test_a_loss_that_is_measured_again_stays_one(places: Places) -> None:
    found = findings(places, draws=LOST, beside=LOST)
    before = found.words()
    for kind, points in found.doubtful(ALL).items():
        found.measured_again(kind, [probe(point, LOST, width=1.3) for point in points])
    assert found.words() == before


def test_who_is_wrong_when_measured_again_is_wrong(places: Places) -> None:
    found = findings(places, published=LOST)
    found.measured_again("E1", [replace(probe(places.published, LOST), verdict="wrong", interval=None)])
    assert "wrong at published" in found.words()


def test_what_could_not_be_measured_again_stays(places: Places) -> None:
    found = findings(places, draws=LOST, beside=LOST)
    before = found.words()
    for kind in ALL:
        found.measured_again(kind, [])
    assert found.words() == before
