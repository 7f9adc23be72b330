"""All configurations that an audit looks at: measured, published, drawn, and what lies beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kfp.auditing.arms import Surroundings
from kfp.auditing.lab import Lab
from kfp.auditing.points import Point, exists, in_turn, moved, with_context, work_of
from kfp.gating.draws import Draws
from kfp.gating.variations import Law, Variation, laws_of, may_be_padded
from kfp.tasks.base import Configuration, Task

_OTHER_SEEDS = 2
_CONTEXTS = 3
_LAWS_TIMED = 4
_PADDING = 2
# As light for a processor as they are rare.
_LIGHT: tuple[Law, ...] = ("constant", "extremes")
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

    def near(self) -> list[Point]:
        """All neighbours but those that are much larger or smaller."""
        return [point for points in self.neighbours.values() for point in points if point.step != "wide"]

    def forget(self, labels: set[str]) -> None:
        self.neighbours = {
            centre: tuple(point for point in points if point.label not in labels)
            for centre, points in self.neighbours.items()
        }

    def laws_at(self, centre: Point) -> list[Point]:
        heavy = [law for law in laws_of(self.task) if law not in _LIGHT]
        return [_varied(centre, Variation(law), f"{law} data") for law in heavy[:_LAWS_TIMED]]

    def padded_at(self, centre: Point) -> list[Point]:
        return [_larger_grid(centre)] if may_be_padded(self.task) else []

    def contexts_at(self, centre: Point) -> list[Point]:
        """The sizes of ``centre`` with everything else as it is elsewhere."""
        found: dict[tuple[object, ...], Point] = {}
        for other in (self.published, *self.timed, *self.untimed):
            made = with_context(self.task, centre.configuration, other.configuration)
            if made is None or tuple(made.parameters.values()) in found or not exists(self.task, made):
                continue
            found[tuple(made.parameters.values())] = Point(
                made, axis="context", beside=centre.label, side=1, step="far"
            )
            if len(found) == _CONTEXTS:
                break
        return list(found.values())

    def sweep(self, centres: Sequence[Point], most_work: float) -> list[Point]:
        groups = []
        for centre in centres:
            points = [point for point in self.neighbours.get(centre.label, ()) if self._fits(point, most_work)]
            groups.append(sorted(points, key=lambda point: _TELLING[point.step]))
        return in_turn(groups)

    def _fits(self, point: Point, most_work: float) -> bool:
        work = work_of(self.task, point.configuration)
        return work is not None and work <= most_work

    def surroundings(self, wrong: Sequence[Configuration]) -> Surroundings:
        neighbours = dict(self.neighbours)
        for centre in self.measured:
            neighbours[centre.label] = (*neighbours.get(centre.label, ()), *self.contexts_at(centre))
        return Surroundings(
            measured=tuple(point.label for point in self.measured),
            published=self.published.label,
            neighbours=neighbours,
            wrong=tuple(configuration.label for configuration in wrong),
        )

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
    largest = max(measured, key=lambda point: work_of(task, point.configuration) or 0.0)
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
        other_laws=tuple(_varied(point, Variation(law), f"{law} data") for point in measured for law in laws_of(task)),
        padded=tuple(_larger_grid(point) for point in measured) if may_be_padded(task) else (),
        neighbours={
            centre.label: tuple(_beside(lab, centre, largest.configuration)) for centre in (*measured, published)
        },
    )


def _beside(lab: Lab, centre: Point, largest: Configuration) -> Iterator[Point]:
    most = 4 * (work_of(lab.task, largest) or 1.0)
    for point in moved(lab.task, centre.configuration, lab.scale):
        work = work_of(lab.task, point.configuration)
        if work is not None and work <= most and exists(lab.task, point.configuration):
            yield point


def _varied(point: Point, variation: Variation, what: str) -> Point:
    # A label of its own, so that what was varied can be told apart.
    return Point(replace(point.configuration, label=f"{point.label}, {what}"), variation)


def _larger_grid(point: Point) -> Point:
    return _varied(point, Variation(padding=_PADDING), "larger grid")
