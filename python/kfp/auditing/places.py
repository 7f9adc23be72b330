"""All configurations that an audit looks at: measured, published, drawn, and what lies beside them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from kfp.auditing.arms import Surroundings
from kfp.auditing.inputs import bound_values
from kfp.auditing.lab import Lab
from kfp.auditing.points import (
    ALL_SIZES,
    CONTEXT,
    Point,
    axes,
    in_turn,
    moved,
    plan_of,
    shown,
    sizes_of,
    with_context,
    work_of,
)
from kfp.gating.draws import Draws
from kfp.gating.variations import Law, Variation, laws_of, may_be_padded
from kfp.running import references
from kfp.tasks.base import Configuration, Number, Scale, Task

_OTHER_SEEDS = 2
_CONTEXTS = 3
_LAWS_TIMED = 6
_HEAVIER = 6
_PADDING = 2
# Of a sweep, at most.
_SWEPT = 40
# Neighbours that a program's arms are held against: as many as there are plans of in so many seconds, without those
# whose inputs are known already. Far from what kfp's own tasks need, so that an audit of them depends on no clock.
_PLANNING_SECONDS = 2.5
# Of every axis of a point, in any case.
_FEWEST_OF_AN_AXIS = 2
_MOST_NEIGHBOURS = 160
# A smaller number in a condition may be anything.
_TELLTALE = 64
# As light for a processor as it is rare.
_LIGHT: tuple[Law, ...] = ("constant",)
# What is least like any other comes first.
_TELLING_LAWS: tuple[Law, ...] = ("uniform", "extremes")
# The order in which a sweep looks: what keeps the alignment tells most.
_TELLING = {"far": 0, "near": 1, "mid": 2, "wide": 3}


@dataclass
class Places:
    task: Task
    measured: tuple[Point, ...]
    published: Point
    timed: tuple[Point, ...]
    untimed: tuple[Point, ...]
    checked: tuple[Point, ...]
    narrowed: tuple[Point, ...]
    same_law: tuple[Point, ...]
    other_laws: tuple[Point, ...]
    padded: tuple[Point, ...]
    # Of each measured configuration and of the published one, by label.
    neighbours: dict[str, tuple[Point, ...]]
    _contexts: dict[str, list[Point]] = field(default_factory=dict)
    _plan_seconds: float | None = None

    def near(self) -> list[Point]:
        """All neighbours but those that are much larger or smaller, the most telling ones of each point first."""
        groups = [
            sorted((point for point in self.neighbours[label] if point.step != "wide"), key=_telling)
            for label in (self.published.label, *(point.label for point in self.measured))
        ]
        return in_turn(groups)

    def forget(self, labels: set[str]) -> None:
        self.neighbours = {
            centre: tuple(point for point in points if point.label not in labels)
            for centre, points in self.neighbours.items()
        }

    def laws_at(self, centre: Point) -> list[Point]:
        laws = sorted(laws_of(self.task), key=lambda law: law not in _TELLING_LAWS)
        heavy = [_varied(centre, Variation(law), f"{law} data") for law in laws if law not in _LIGHT]
        return in_turn([heavy, *_by_parameter(self.task, centre)])[:_LAWS_TIMED]

    def padded_at(self, centre: Point) -> list[Point]:
        return [_larger_grid(centre)] if may_be_padded(self.task) else []

    def contexts_at(self, centre: Point) -> list[Point]:
        """The sizes of ``centre`` with everything else as it is elsewhere."""
        if centre.label not in self._contexts:
            self._contexts[centre.label] = list(self._contexts_at(centre))
        return self._contexts[centre.label]

    def _contexts_at(self, centre: Point) -> Iterator[Point]:
        known: set[tuple[object, ...]] = set()
        for other in (self.published, *self.timed, *self.untimed):
            made = with_context(self.task, centre.configuration, other.configuration)
            if made is None or tuple(made.parameters.values()) in known or plan_of(self.task, made) is None:
                continue
            known.add(tuple(made.parameters.values()))
            yield Point(made, axis=CONTEXT, beside=centre.label, side=1, step="far")
            if len(known) == _CONTEXTS:
                return

    def heavier_at(self, centre: Point) -> list[Point]:
        """``centre`` with one parameter as it is elsewhere, which may be a heavier context: as the published
        configuration has it, and as it is drawn furthest away.
        """
        published: list[Point] = []
        drawn: list[Point] = []
        for entry in axes(self.task, centre.configuration):
            own = centre.configuration.parameters[entry.name]
            at_published = self.published.configuration.parameters.get(entry.name, own)
            values = [point.configuration.parameters.get(entry.name, own) for point in self.timed]
            furthest = max(values, key=partial(_distance, own), default=own)
            for found, value, how in ((published, at_published, "as published"), (drawn, furthest, "as drawn")):
                if value != own and (how == "as published" or value != at_published):
                    found.append(_with_value(centre, entry.name, value, how))
        return [*published, *drawn][:_HEAVIER]

    def sweep(self, centres: Sequence[Point], most_work: float) -> list[Point]:
        groups = []
        for centre in centres:
            points = [point for point in self.neighbours.get(centre.label, ()) if point.step != "wide"]
            groups.append(sorted(points, key=_telling))
        return [point for point in in_turn(groups)[:_SWEPT] if self._fits(point, most_work)]

    def _fits(self, point: Point, most_work: float) -> bool:
        work = work_of(self.task, point.configuration)
        return work is not None and work <= most_work

    @cached_property
    def secret_arguments(self) -> frozenset[tuple[str, str]]:
        """(kernel, argument) of the scalars that have a value at the published configuration and at no measured one."""
        measured = [_scalars(self.task, point.configuration) for point in self.measured]
        configuration = self.published.configuration
        published = _scalars(self.task, configuration)
        # What comes with the data tells no configuration from another.
        twin = _scalars(self.task, replace(configuration, seed=configuration.seed + 1))
        return frozenset(
            key
            for key, values in published.items()
            if twin.get(key) == values and not any(values <= one.get(key, frozenset()) for one in measured)
        )

    @cached_property
    def secret(self) -> frozenset[str]:
        """Axes of the published configuration along which a kernel sees a value that no measured one shows it. Its own
        parameters may be another matter: what a kernel sees of them may be derived.
        """
        published = self.published.configuration
        seen = _scalars(self.task, published)
        found = set()
        for axis in dict.fromkeys(point.axis for point in self.neighbours.get(self.published.label, ())):
            for point in self.neighbours[self.published.label]:
                moved_to = _scalars(self.task, point.configuration) if point.axis == axis else {}
                if not moved_to:
                    continue
                changed = {key for key, values in seen.items() if moved_to.get(key) != values}
                if changed & self.secret_arguments:
                    found.add(axis)
                break
        if not found.issuperset(sizes_of(self.task, published)):
            # What is lost with all sizes moved may be due to one that everybody knows.
            found.discard(ALL_SIZES)
        own = {
            name
            for name, value in published.parameters.items()
            if all(point.configuration.parameters.get(name) != value for point in self.measured)
        }
        if own - set(sizes_of(self.task, published)):
            found.add(CONTEXT)
        return frozenset(found)

    def surroundings(self, wrong: Sequence[Configuration], right: Sequence[Configuration] = ()) -> Surroundings:
        neighbours = {label: list(points) for label, points in self.neighbours.items()}
        for centre in (*self.measured, self.published):
            neighbours[centre.label] += self.contexts_at(centre)
        # As many as can be looked at in time; the same number of each.
        groups = [group for points in neighbours.values() for group in _by_axis(points)]
        chosen = set(self._affordable(in_turn(groups), _FEWEST_OF_AN_AXIS * len(groups)))
        return Surroundings(
            measured=tuple(point.label for point in self.measured),
            published=self.published.label,
            secret=self.secret,
            secret_arguments=self.secret_arguments,
            neighbours={
                label: tuple(point for point in points if point.label in chosen) for label, points in neighbours.items()
            },
            wrong=tuple(configuration.label for configuration in wrong),
            right=tuple(configuration.label for configuration in right),
            parameters={point.label: point.configuration.parameters for point in (*self.measured, self.published)},
            elsewhere=self._elsewhere(),
        )

    def _elsewhere(self) -> frozenset[int]:
        scale = self.measured[0].configuration.scale
        other: Scale = "full" if scale == "small" else "small"
        names = sizes_of(self.task, self.measured[0].configuration)

        def values(of: Scale) -> set[int]:
            points = (*self.task.configurations(of), self.task.published_held_out(of))
            return {int(point.parameters[name]) for point in points for name in names}

        return frozenset(value for value in values(other) - values(scale) if value >= _TELLTALE)

    def _affordable(self, points: Sequence[Point], fewest: int) -> Iterator[str]:
        """The labels of as many as can be planned in time, and of the ``fewest`` in any case."""
        if self._plan_seconds is None:
            # Of the processor, so that other load of the machine doesn't change what is looked at.
            started = time.process_time()
            self.task.inputs(self.published.configuration)
            self._plan_seconds = time.process_time() - started
        planning = 0.0
        for number, point in enumerate(points[:_MOST_NEIGHBOURS]):
            if not references.has_inputs(self.task, point.configuration):
                planning += self._plan_seconds
            if number >= fewest and planning > _PLANNING_SECONDS:
                return
            yield point.label

    def configurations(self, around: Surroundings, wrong: Sequence[Configuration]) -> list[Configuration]:
        """Everything that the arms of a program are held against, each label once."""
        found = [point.configuration for point in (*self.measured, self.published, *self.timed)]
        found += [point.configuration for points in around.neighbours.values() for point in points]
        return list({configuration.label: configuration for configuration in (*found, *wrong)}.values())


def places_of(lab: Lab, draws: Draws) -> Places:
    task = lab.task
    data = lab.number("data")
    measured = tuple(Point(replace(point, seed=data)) for point in task.configurations(lab.scale))
    published = Point(replace(task.published_held_out(lab.scale), seed=data))
    untimed = [drawn for drawn in draws.untimed if not drawn.variation.narrowing]
    rng = lab.random("other data")
    return Places(
        task=task,
        measured=measured,
        published=published,
        timed=tuple(Point(drawn.configuration, drawn.variation) for drawn in draws.timed),
        untimed=tuple(Point(drawn.configuration, drawn.variation) for drawn in untimed),
        checked=tuple(Point(drawn.configuration, drawn.variation) for drawn in untimed if drawn.checked),
        narrowed=tuple(_varied(point, Variation(narrowing=1), "narrower threadgroups") for point in measured),
        same_law=tuple(
            Point(replace(point.configuration, seed=seed, label=f"{point.label}, data {seed}"))
            for point in measured
            for seed in (int(number) for number in rng.integers(1 << 31, size=_OTHER_SEEDS))
        ),
        other_laws=tuple(point for centre in measured for point in _other_laws(task, centre)),
        padded=tuple(_larger_grid(point) for point in measured) if may_be_padded(task) else (),
        neighbours={centre.label: moved(task, centre.configuration, lab.scale) for centre in (*measured, published)},
    )


def _scalars(task: Task, configuration: Configuration) -> dict[tuple[str, str], frozenset[np.generic]]:
    """By (kernel, argument) the values that its dispatches receive; empty where the task has no such configuration."""
    plan = plan_of(task, configuration)
    if plan is None:
        return {}
    return {
        (kernel.name, argument.name): frozenset(bound_values(plan, kernel, argument))
        for kernel in task.kernels
        for argument in kernel.arguments
        if argument.access == "constant"
    }


def _with_value(centre: Point, name: str, value: Number, how: str) -> Point:
    label = f"{centre.label}: {name}={shown(value)} {how}"
    made = replace(centre.configuration, label=label, parameters=dict(centre.configuration.parameters) | {name: value})
    return Point(made, axis=CONTEXT, beside=centre.label, side=1, step="far")


def _distance(one: Number, other: Number) -> float:
    """How many times as large or as small; of two numbers that aren't above 0 how far apart."""
    return abs(math.log(one / other)) if min(one, other) > 0 else abs(one - other)


def _by_axis(points: Sequence[Point]) -> list[list[Point]]:
    names = dict.fromkeys(point.axis for point in points)
    return [sorted((point for point in points if point.axis == name), key=_telling) for name in names]


def _telling(point: Point) -> int:
    return _TELLING[point.step]


def _varied(point: Point, variation: Variation, what: str) -> Point:
    # A label of its own, so that what was varied can be told apart.
    return Point(replace(point.configuration, label=f"{point.label}, {what}"), variation)


def _other_laws(task: Task, centre: Point) -> list[Point]:
    free = [_varied(centre, Variation(law), f"{law} data") for law in laws_of(task)]
    return in_turn([free, *_by_parameter(task, centre)])


def _by_parameter(task: Task, centre: Point) -> list[list[Point]]:
    """With each of the parameters moved that shape nothing but the data."""
    configuration = centre.configuration
    return [
        [
            Point(
                replace(
                    configuration,
                    label=f"{configuration.label}, data of {name}={shown(value)}",
                    parameters=dict(configuration.parameters) | {name: value},
                )
            )
            for value in values
            if value != configuration.parameters[name]
        ]
        for name, values in task.data_laws.items()
    ]


def _larger_grid(point: Point) -> Point:
    return _varied(point, Variation(padding=_PADDING), "larger grid")
