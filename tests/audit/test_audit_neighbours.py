"""What lies beside a configuration, and what follows from what holds there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.auditing.isolation import Along, Seen, along_axes, isolates
from kfp.auditing.points import ALL_SIZES, Point, axes, moved, sizes_of
from kfp.auditing.results import Probe
from kfp.auditing.steps import beside, holds, neighbour_sweep
from kfp.gating.draws import published_points
from kfp.tasks import all_tasks, get_task
from kfp.tasks.base import Configuration, Task
from kfp.timing.statistics import Interval

EVERY_TASK = pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)


@EVERY_TASK
def test_neighbours_are_legal_values_along_one_axis(task: Task) -> None:
    ranges = {entry.name: entry for entry in task.ranges}
    for centre in (*task.configurations("small"), task.published_held_out("small")):
        sizes = sizes_of(task, centre)
        points = moved(task, centre, "small")
        assert len({point.label for point in points}) == len(points)
        for point in points:
            parameters = point.configuration.parameters
            changed = {name for name in parameters if parameters[name] != centre.parameters[name]}
            assert changed == (set(sizes) if point.axis == ALL_SIZES else {point.axis})
            assert all(parameters[name] in ranges[name] for name in changed)
            assert not changed & set(task.coupled) or task.allows(point.configuration)
            assert point.beside == centre.label
            for name in changed:
                assert (parameters[name] > centre.parameters[name]) == (point.side == 1)
            assert tuple(parameters.items()) not in published_points(task, "small")
            assert point.configuration.seed == centre.seed


@EVERY_TASK
def test_declarations_of_what_can_be_moved_fit(task: Task) -> None:
    names = {entry.name for entry in task.ranges}
    assert set(task.coupled) <= names
    assert not set(task.coupled) & set(task.free_sizes)
    centre = task.configurations("small")[0]
    assert {entry.name for entry in axes(task, centre)} | set(task.coupled) >= names & set(centre.parameters)


def test_mid_and_far_steps_keep_the_alignment() -> None:
    task = get_task("saxpy")
    centre = task.configurations("small")[0]
    points = [point for point in moved(task, centre, "small") if point.axis == "N"]
    values = {(point.step, point.side): point.configuration.integer("N") for point in points}
    assert values == {
        ("near", -1): 1023,
        ("near", 1): 1025,
        ("mid", -1): 960,
        ("mid", 1): 1088,
        ("far", -1): 768,
        ("far", 1): 1280,
        ("wide", -1): 512,
        ("wide", 1): 2048,
    }


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 8192))
def test_every_size_has_neighbours_on_both_sides(size: int) -> None:
    task = get_task("heat2d")
    centre = Configuration("a point", {"NX": size, "NY": 64, "steps": 1, "alpha": 0.1})
    sides = {point.side for point in moved(task, centre, "small") if point.axis == "NX"}
    assert sides == ({1} if size == 3 else {-1} if size == 8192 else {-1, 1})


def point(axis: str, side: int, step: str = "far", beside_label: str = "here") -> Point:
    configuration = Configuration(f"{axis} {side} {step}", {"N": 1})
    return Point(configuration, axis=axis, beside=beside_label, side=side, step=step)  # type: ignore[arg-type]


def seen(*answers: tuple[str, int, str, bool | None]) -> list[Seen]:
    return [Seen(point(axis, side, step), holding) for axis, side, step, holding in answers]


def along_n(near: tuple[bool | None, bool | None], far: tuple[bool | None, bool | None]) -> list[Seen]:
    """Below and above."""
    return seen(
        ("N", -1, "near", near[0]), ("N", 1, "near", near[1]), ("N", -1, "far", far[0]), ("N", 1, "far", far[1])
    )


ISOLATIONS: Mapping[str, tuple[list[Seen], str]] = {
    "equality": (along_n((False, False), (False, False)), "isolated"),
    "a narrow interval": (along_n((True, True), (False, False)), "isolated"),
    "alignment": (along_n((False, False), (True, True)), "class"),
    "an upper bound": (along_n((True, False), (True, False)), "class"),
    "everywhere": (along_n((True, True), (True, True)), "everywhere"),
    "not known": (along_n((None, None), (None, None)), "unknown"),
    "known on one side": (along_n((None, None), (None, False)), "unknown"),
    "the range ends here": (seen(("N", 1, "near", False), ("N", 1, "far", False)), "one-sided"),
    "some contexts have it": (seen(("context", 1, "far", True), ("context", 1, "far", False)), "class"),
    "no context has it": (seen(("context", 1, "far", False), ("context", 1, "far", False)), "one-sided"),
}


@pytest.mark.parametrize("name", ISOLATIONS)
def test_isolation(name: str) -> None:
    answers, expected = ISOLATIONS[name]
    assert [along.isolation for along in along_axes(answers)] == [expected]


def test_a_ratio_of_sizes_is_no_identity() -> None:
    square = [Along("NX", "isolated"), Along("NY", "isolated"), Along(ALL_SIZES, "everywhere")]
    assert not isolates(square)
    assert isolates([*square[:2], Along(ALL_SIZES, "isolated")])
    assert isolates(square[:2])
    assert isolates([Along(ALL_SIZES, "everywhere"), Along("NX", "everywhere"), Along("t", "one-sided")]) is False


def probe(
    label: str,
    ratio: float | None,
    *,
    seconds: float = 1e-3,
    beside_label: str = "",
    axis: str = "",
    width: float = 1.02,
) -> Probe:
    interval = None if ratio is None else Interval(ratio, ratio / width, ratio * width, 0.95)
    return Probe(
        label=label,
        parameters=MappingProxyType({"N": 1}),
        origin="in_distribution",
        seed=0,
        law="own",
        axis=axis,
        beside=beside_label,
        verdict="wrong" if ratio is None else "win",
        detail="",
        interval=interval,
        seconds=None if ratio is None else seconds,
        reference_seconds=None if ratio is None else seconds * ratio,
        work=1.0,
    )


def test_a_gain_that_is_gone_beside_its_point_is_lost() -> None:
    centre = probe("here", 4.0)
    assert holds(centre, probe("beside", 3.8, seconds=1.05e-3), 1.05) is True
    assert holds(centre, probe("beside", 1.0, seconds=4e-3), 1.05) is False
    # Half of the logarithm is neither.
    assert holds(centre, probe("beside", 2.0, seconds=2e-3, width=1.3), 1.05) is None
    assert holds(centre, probe("beside", None), 1.05) is None


def test_a_reference_that_is_slow_at_one_point_makes_no_step() -> None:
    """As a size that is a power of two makes a stride that misses the cache."""
    centre = replace(probe("here", 4.0), seconds=1e-3, reference_seconds=4e-3)
    beside_it = replace(probe("beside", 1.0), seconds=1e-3, reference_seconds=1e-3)
    assert holds(centre, beside_it, 1.05) is None


@settings(deadline=None)
@given(
    st.floats(1.06, 50),
    st.floats(0.05, 50),
    st.floats(1.0, 2.0),
)
def test_a_gain_is_never_both_kept_and_lost(gain: float, other: float, width: float) -> None:
    found = holds(probe("here", gain), probe("beside", other, seconds=1e-3 * gain / other, width=width), 1.05)
    if found:
        assert other / width > math.sqrt(gain)
    elif found is False:
        assert other * width < gain


def swept(
    ratios: Mapping[tuple[str, int, str], float],
    centre: float = 4.0,
    label: str = "here",
    secret: tuple[str, ...] = ("N",),
) -> list[str]:
    neighbours = [
        (
            point(axis, side, step, label),
            probe(f"{axis}{side}{step}", ratio, seconds=1e-3 * centre / ratio, beside_label=label, axis=axis),
        )
        for (axis, side, step), ratio in ratios.items()
    ]
    words, texts = neighbour_sweep({label: probe(label, centre)}, "the published point", secret, neighbours, 1.05)
    assert bool(words) == bool(texts)
    return sorted(words)


def test_sweeps() -> None:
    both = [("N", -1, "far"), ("N", 1, "far")]
    assert swept(dict.fromkeys(both, 1.0)) == ["step"]
    assert swept(dict.fromkeys(both, 3.9)) == ["smooth"]
    assert swept({("N", -1, "far"): 3.9, ("N", 1, "far"): 1.0}) == ["size class"]
    assert swept({("t", 1, "far"): 1.0}) == ["context collapse"]
    assert swept(dict.fromkeys(both, 1.0), label="the published point") == ["published island"]
    # A value that it shares with measured points gives nothing away.
    assert swept(dict.fromkeys(both, 1.0), label="the published point", secret=()) == []
    square = dict.fromkeys([("NX", -1, "far"), ("NX", 1, "far")], 1.0)
    joint = dict.fromkeys([(ALL_SIZES, -1, "far"), (ALL_SIZES, 1, "far")], 3.9)
    assert swept(square | joint) == ["size class"]
    assert swept(square | dict.fromkeys(joint, 1.0)) == ["step"]


def test_a_side_that_nobody_has_looked_at_yet_is_not_missing() -> None:
    def words(*unseen: Point) -> list[str]:
        smaller = probe("N-1far", 1.0, seconds=4e-3, beside_label="here", axis="N")
        neighbours = [(point("N", -1), smaller)]
        return neighbour_sweep({"here": probe("here", 4.0)}, "published", {"N"}, neighbours, 1.05, unseen)[0]

    assert words() == ["context collapse"]
    assert words(point("N", 1)) == ["cause open"]
    assert words(point("N", 1, beside_label="elsewhere")) == ["context collapse"]


def test_a_sweep_whose_times_say_nothing_leaves_the_cause_open() -> None:
    neighbours = [
        (point("N", side), probe(f"N{side}", 2.0, seconds=2e-3, beside_label="here", axis="N", width=9.0))
        for side in (-1, 1)
    ]
    words, _ = neighbour_sweep({"here": probe("here", 4.0)}, "the published point", {"N"}, neighbours, 1.05)
    assert words == ["cause open"]


def test_right_at_the_published_point_alone_is_an_island() -> None:
    def around(label: str, verdict: str) -> list[tuple[Point, Probe]]:
        sides = [point("N", side, step, label) for side in (-1, 1) for step in ("near", "far")]
        return [(one, replace(probe(one.label, None), verdict=verdict)) for one in sides]  # type: ignore[arg-type]

    wrong = [*around("published", "wrong"), *around("measured", "wrong")]
    assert beside({"published", "measured"}, "published", {"N"}, wrong)[0] == ["wrong beside", "published island"]
    assert beside({"published", "measured"}, "published", {"a"}, wrong)[0] == ["wrong beside"]
    assert beside({"measured"}, "published", {"N"}, wrong)[0] == ["wrong beside"]
    assert beside({"published"}, "published", {"N"}, around("published", "right")) == ([], [])


def test_what_is_right_at_every_multiple_of_something_names_none_of_them() -> None:
    def around(verdicts: dict[str, str]) -> list[tuple[Point, Probe]]:
        points = [
            (point("N", side, step, "published"), verdict) for step, verdict in verdicts.items() for side in (-1, 1)
        ]
        return [(one, replace(probe(one.label, None), verdict=verdict)) for one, verdict in points]  # type: ignore[arg-type]

    def words(**verdicts: str) -> list[str]:
        return list(beside({"published"}, "published", {"N"}, around(verdicts))[0])

    assert words(near="wrong", mid="wrong", far="right") == ["wrong beside"]
    assert words(near="wrong", mid="wrong", far="wrong") == ["wrong beside", "published island"]
    assert words(near="right", mid="right", far="wrong") == ["wrong beside", "published island"]


def test_labels_of_neighbours_say_what_was_moved() -> None:
    task = get_task("heat2d")
    centre = task.configurations("small")[0]
    labels = {one.label for one in moved(task, centre, "small")}
    assert f"{centre.label}: NX=33" in labels
    assert f"{centre.label}: NX=33, NY=33" in labels
    assert np.isclose(max(one.configuration.real("alpha") for one in moved(task, centre, "small")), 0.25)


def test_a_menu_hides_whether_its_values_are_named_or_a_class() -> None:
    """Of a few powers of two most neighbours are known: who names them all takes them along, as a class does."""
    task = get_task("morton")
    known = {8, 16, 32, 64, 128, 256}
    assert known == {dict(point)["N"] for scale in ("small", "full") for point in published_points(task, scale)}

    def answers(holds: Callable[[int], bool]) -> list[Along]:
        found = []
        for centre in task.configurations("small"):
            around = [point for point in moved(task, centre, "small") if point.axis == "N"]
            sizes = [point.configuration.integer("N") for point in around]
            assert [point.known for point in around] == [size in known for size in sizes]
            if holds(centre.integer("N")):
                found += along_axes(Seen(point, holds(size)) for point, size in zip(around, sizes, strict=True))
        return found

    assert [one.isolation for one in answers(lambda n: n in (8, 16, 32))] == ["unknown", "isolated", "unknown"]
    assert [one.isolation for one in answers(lambda n: n == 16)] == ["isolated"]
    assert [one.isolation for one in answers(lambda n: n <= 32)] == ["everywhere", "class", "unknown"]
    assert not isolates(answers(lambda n: n >= 16))
    # All neighbours of the largest are known at one of the scales.
    assert [one.isolation for one in answers(lambda n: True)] == ["everywhere", "everywhere", "unknown"]


def test_a_size_without_alignment_has_a_step_between_the_smallest_and_a_quarter() -> None:
    task = get_task("heat2d")
    values = {
        (point.step, point.side): point.configuration.integer("NX")
        for point in moved(task, task.published_held_out("small"), "small")
        if point.axis == "NX"
    }
    assert [values[step, -1] for step in ("near", "mid", "far", "wide")] == [60, 57, 46, 30]  # type: ignore[index]


def test_of_coupled_parameters_those_are_moved_that_the_task_allows() -> None:
    task = get_task("lj")
    for centre in (*task.configurations("small"), task.published_held_out("small")):
        assert not task.allows(replace(centre, parameters={**centre.parameters, "M": 2}))
        assert not task.allows(replace(centre, parameters={**centre.parameters, "N": centre.integer("N") + 1}))
        around = moved(task, centre, "small")
        assert {"N", "L"} <= {point.axis for point in around}
        for point in around:
            parameters = point.configuration.parameters
            assert parameters["L"] / parameters["M"] >= 2.5
            inputs = task.inputs(point.configuration)
            cells = np.floor(inputs["pos"][:, :3] / parameters["L"] * parameters["M"]).astype(int)
            assert np.unique(cells, axis=0, return_counts=True)[1].max() <= 64
