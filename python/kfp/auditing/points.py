"""Configurations around the measured ones: one parameter moved, everything else as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from kfp.errors import PlanError
from kfp.gating.draws import demands_of, published_points
from kfp.gating.variations import PLAIN, Variation
from kfp.plan import Plan
from kfp.running import faults_of, references
from kfp.tasks.base import Configuration, Number, Range, Scale, Task

# A near step is the smallest there is, a mid one is small and keeps the alignment of the size, a far one is about a
# quarter of it; a wide one doubles or halves.
Step: TypeAlias = Literal["near", "mid", "far", "wide"]

# The axis of a point at which every size was moved, so that a square stays one.
ALL_SIZES = "all sizes"

# The axis of a point that has its sizes from one configuration and everything else from another.
CONTEXT = "context"

# Relative steps of a real parameter.
_REAL_STEPS: tuple[tuple[Step, float], ...] = (("near", 2.0**-10), ("far", 0.25))
_MOST_ALIGNMENT = 64


@dataclass(frozen=True)
class Point:
    """A configuration to be looked at. ``axis``: the parameter that was moved away from the point ``beside``, by a
    ``step``, downwards (``side`` -1) or upwards (1). ``known``: to a value that another published configuration has,
    so that who names them all takes it along.
    """

    configuration: Configuration
    variation: Variation = PLAIN
    axis: str = ""
    beside: str = ""
    side: int = 0
    step: Step = "near"
    known: bool = False

    @property
    def label(self) -> str:
        return self.configuration.label

    @property
    def aligned(self) -> bool:
        return self.step != "near"


def moved(task: Task, centre: Configuration, scale: Scale) -> tuple[Point, ...]:
    """The neighbours of ``centre`` along every parameter that can be moved there alone, and along all sizes at once.

    None of them is a configuration that anybody has published. Whether the seed is right there is not known yet.
    """
    published = published_points(task, scale)
    everywhere = [dict(point) for scale in get_args(Scale) for point in published_points(task, scale)]
    known = {name: {point[name] for point in everywhere if name in point} for name in centre.parameters}
    entries = axes(task, centre)
    coupled = tuple(entry for entry in task.ranges if entry.name in task.coupled and entry.name in centre.parameters)
    groups: list[tuple[str, tuple[Range, ...]]] = [(entry.name, (entry,)) for entry in (*entries, *coupled)]
    sizes = sizes_of(task, centre)
    if len(sizes) > 1:
        groups.append((ALL_SIZES, tuple(entry for entry in entries if entry.name in sizes)))
    found = []
    for axis, together in groups:
        values = [list(_values(entry, centre.parameters[entry.name])) for entry in together]
        for step, side in dict.fromkeys((step, side) for step, side, _ in values[0]):
            changed = {
                entry.name: value
                for entry, list_ in zip(together, values, strict=True)
                for other_step, other_side, value in list_
                if (other_step, other_side) == (step, side)
            }
            parameters = dict(centre.parameters) | changed
            if len(changed) < len(together) or tuple(parameters.items()) in published:
                continue
            what = ", ".join(f"{name}={shown(value)}" for name, value in changed.items())
            configuration = replace(centre, label=f"{centre.label}: {what}", parameters=parameters)
            if axis in task.coupled and not task.allows(configuration):
                continue
            is_known = all(value in known[name] for name, value in changed.items())
            found.append(Point(configuration, axis=axis, beside=centre.label, side=side, step=step, known=is_known))
    return tuple(found)


def axes(task: Task, centre: Configuration) -> tuple[Range, ...]:
    return tuple(entry for entry in task.ranges if entry.name in centre.parameters and entry.name not in task.coupled)


def shown(value: Number) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _values(entry: Range, value: Number) -> Iterator[tuple[Step, int, Number]]:
    """Other values that the range holds, each once: by which step, to which side."""
    seen = {value}
    for step, side, other in _wanted(entry, value):
        if other not in seen and other in entry:
            seen.add(other)
            yield step, side, other


def _wanted(entry: Range, value: Number) -> Iterator[tuple[Step, int, Number]]:
    sides = (-1, 1)
    if not entry.step:
        for step, share in _REAL_STEPS:
            yield from ((step, side, float(f"{value * (1 + side * share):.9g}")) for side in sides)
        return
    whole = int(value)
    if entry.powers_of_two:
        yield from (("mid", -1, whole // 2), ("mid", 1, 2 * whole), ("wide", -1, whole // 4), ("wide", 1, 4 * whole))
        return
    units = whole // entry.step
    if not units:
        yield from (("near", side, side * entry.step) for side in sides)
        return
    alignment = units & -units
    # What isn't aligned keeps that by any step.
    mid = min(alignment if alignment > 1 else units, _power_below(units // 8), _MOST_ALIGNMENT)
    far = min(alignment, _power_below(units // 4))
    quarter = max(far, units // 4 // far * far)
    distances: tuple[tuple[Step, int], ...] = (("near", 1), ("mid", mid), ("far", quarter))
    for name, distance in distances:
        yield from ((name, side, (units + side * distance) * entry.step) for side in sides)
    yield from (("wide", -1, units // 2 * entry.step), ("wide", 1, 2 * units * entry.step))


def _power_below(value: int) -> int:
    """The largest power of two that is at most ``value``, and at least 1."""
    return 1 << max(value.bit_length() - 1, 0)


# By the type of a task: which of its parameters are sizes doesn't change, and plans may take long to make.
_SIZES: dict[type[Task], tuple[str, ...]] = {}


def sizes_of(task: Task, centre: Configuration) -> tuple[str, ...]:
    """Parameters that can be moved alone and that change how much there is: the buffers or the grids of the plan."""
    if type(task) not in _SIZES:
        _SIZES[type(task)] = _sizes(task, centre)
    return _SIZES[type(task)]


def _sizes(task: Task, centre: Configuration) -> tuple[str, ...]:
    usual = _extents(plan_of(task, centre))
    found = []
    for entry in axes(task, centre):
        for _, _, value in _values(entry, centre.parameters[entry.name]):
            other = replace(centre, parameters=dict(centre.parameters) | {entry.name: value})
            plan = plan_of(task, other)
            if plan is not None:
                if _extents(plan) != usual:
                    found.append(entry.name)
                break
    return tuple(found)


def _extents(plan: Plan | None) -> object:
    if plan is None:
        return None
    return [buffer.shape for buffer in plan.buffers], [(one.grid, one.kernel) for one in plan.dispatches]


def plan_of(task: Task, configuration: Configuration) -> Plan | None:
    """With the caps of a kernel that declares none; None where the task has no such configuration."""
    try:
        with faults_of(task, configuration):
            inputs = references.inputs(task, configuration)
            return task.plan(configuration, inputs, {kernel.name: 1024 for kernel in task.kernels})
    except Exception:
        return None


def with_context(task: Task, centre: Configuration, other: Configuration) -> Configuration | None:
    """``centre`` with everything but its sizes taken from ``other``; None where that changes nothing."""
    sizes = sizes_of(task, centre)
    parameters = dict(other.parameters) | {name: centre.parameters[name] for name in sizes}
    if parameters == dict(centre.parameters):
        return None
    return replace(centre, label=f"{centre.label} with the context of {other.label}", parameters=parameters)


def exists(task: Task, configuration: Configuration) -> bool:
    """Whether the task can make inputs, a plan and a reference of it."""
    try:
        with faults_of(task, configuration):
            inputs, _ = references.get(task, configuration)
            task.plan(configuration, inputs, {kernel.name: 1024 for kernel in task.kernels})
    except PlanError:
        return True
    except Exception:
        return False
    return True


# Some tasks know it from their reference only, which takes long.
_WORK: dict[tuple[type[Task], Configuration], float | None] = {}


def work_of(task: Task, configuration: Configuration) -> float | None:
    """What the configuration needs at least, over all resources; only ratios of it mean something."""
    key = (type(task), configuration)
    if key not in _WORK:
        try:
            with faults_of(task, configuration):
                _WORK[key] = max(sum(demand.amount for demand in demands_of(task, configuration)), 1.0)
        except Exception:
            _WORK[key] = None
    return _WORK[key]


def in_turn(groups: Sequence[Sequence[Point]]) -> list[Point]:
    """The first of each group, then the second of each, and so on."""
    longest = max((len(group) for group in groups), default=0)
    return [group[i] for i in range(longest) for group in groups if i < len(group)]
