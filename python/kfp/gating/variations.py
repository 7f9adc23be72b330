"""Other data and other geometry for the same configuration, as far as the contract of the task leaves them free."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from kfp.plan import Dispatch, Plan, Size3
from kfp.tasks.base import Array, Arrays, Check, Configuration, Demand, FreeInput, Scale, Task

Law: TypeAlias = Literal[
    "own", "uniform", "skewed", "clustered", "sorted", "constant", "extremes", "shuffled", "reversed"
]

_VALUE_LAWS: tuple[Law, ...] = ("uniform", "skewed", "clustered", "sorted", "constant", "extremes")
# Edge values are mixed into these; the others would not be what they are.
_SPRINKLED: tuple[Law, ...] = ("uniform", "skewed", "clustered")
_ORDER_LAWS: tuple[Law, ...] = ("shuffled", "reversed")
# Below the smallest normal float32: a device may flush it to zero, which no tolerance minds.
_SUBNORMAL = 1e-40


@dataclass(frozen=True)
class Variation:
    """``law`` of the data; ``padding`` whole threadgroups more along every axis of a grid where that is legal;
    ``narrowing`` halves the threadgroups so many times, as a lower cap of the pipeline would.
    """

    law: Law = "own"
    padding: int = 0
    narrowing: int = 0


PLAIN = Variation()


def laws_of(task: Task) -> tuple[Law, ...]:
    """The laws that the data of a task may follow besides its own."""
    return (_VALUE_LAWS if task.free_inputs else ()) + (_ORDER_LAWS if task.exchangeable else ())


def may_be_padded(task: Task) -> bool:
    return any(kernel.idle_threads for kernel in task.kernels)


class VariedTask(Task):
    """A task whose configurations come with variations. Everything that is not varied is the task's own."""

    base: ClassVar[Task]
    variations: ClassVar[Mapping[Configuration, Variation]]

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return self.base.configurations(scale)

    def published_held_out(self, scale: Scale) -> Configuration:
        return self.base.published_held_out(scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        return self.base.draw(rng, scale)

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        inputs = self.base.inputs(configuration)
        law = self._variation(configuration).law
        return inputs if law == "own" else _under_law(self.base, configuration, inputs, law)

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        variation = self._variation(configuration)
        if variation.narrowing:
            caps = {name: _narrowed(self.base, name, cap, variation.narrowing) for name, cap in caps.items()}
        plan = self.base.plan(configuration, inputs, caps)
        return _padded(self.base, plan, variation.padding) if variation.padding else plan

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        return self.base.reference(configuration, inputs)

    def data_key(self, configuration: Configuration) -> Hashable:
        law = self._variation(configuration).law
        own = self.base.data_key(configuration)
        return own if law == "own" else (own, law)

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return self.base.check(configuration, inputs, outputs, expected)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        return self.base.demands(configuration, expected)

    def _variation(self, configuration: Configuration) -> Variation:
        return self.variations.get(configuration, PLAIN)


def varied(task: Task, variations: Mapping[Configuration, Variation]) -> Task:
    """The task with these variations, as a task of a type of its own."""
    own = ("name", "suite", "title", "regime", "unit", "kernels", "ranges", "brief", "weak_axis")
    members = {name: getattr(task, name) for name in own}
    # Its seed kernel lies where that of the task does.
    members |= {"base": task, "variations": dict(variations), "__module__": type(task).__module__}
    made: type[VariedTask] = type("Varied", (VariedTask,), members)
    return made()


def _narrowed(task: Task, name: str, cap: int, narrowing: int) -> int:
    kernel = next((kernel for kernel in task.kernels if kernel.name == name), None)
    if kernel is None:
        return cap
    whole = int(np.prod(kernel.threadgroup))
    return min(cap, max(kernel.min_threads, whole >> narrowing, 1))


def _padded(task: Task, plan: Plan, padding: int) -> Plan:
    idle = {kernel.name for kernel in task.kernels if kernel.idle_threads}
    return replace(
        plan,
        dispatches=tuple(
            _padded_dispatch(dispatch, padding) if dispatch.kernel in idle else dispatch for dispatch in plan.dispatches
        ),
    )


def _padded_dispatch(dispatch: Dispatch, padding: int) -> Dispatch:
    # An axis that is one thread wide isn't an axis of the work.
    x, y, z = (
        extent + padding * width if extent > 1 or width > 1 else extent
        for extent, width in zip(dispatch.grid, dispatch.threadgroup, strict=True)
    )
    grid: Size3 = (x, y, z)
    return replace(dispatch, grid=grid)


def _under_law(task: Task, configuration: Configuration, inputs: dict[str, Array], law: Law) -> dict[str, Array]:
    rng = np.random.default_rng([configuration.seed, 0x1A3])
    if law in _ORDER_LAWS:
        rows = len(inputs[task.exchangeable[0]])
        order = rng.permutation(rows) if law == "shuffled" else np.arange(rows)[::-1]
        return inputs | {name: np.ascontiguousarray(inputs[name][order]) for name in task.exchangeable}
    for free in task.free_inputs:
        values = _values(rng, free, inputs[free.name], law)
        inputs |= {name: values.copy() for name in (free.name, *free.also)}
    return inputs


def _values(rng: np.random.Generator, free: FreeInput, like: Array, law: Law) -> Array:
    """Values under ``law``, with edge values among them."""
    if np.issubdtype(like.dtype, np.integer):
        return _whole_numbers(rng, int(free.low), int(free.high), like.size, law).astype(like.dtype).reshape(like.shape)
    parts = 2 if np.iscomplexobj(like) else 1
    low, high, size = free.low, free.high, parts * like.size
    unit = rng.random(size)
    if law == "skewed":
        unit **= 6
    elif law == "clustered":
        unit = rng.choice(rng.random(3), size)
    elif law == "sorted":
        unit.sort()
    elif law == "constant":
        unit[:] = unit[0]
    elif law == "extremes":
        unit = np.round(unit)
    flat = low + (high - low) * unit
    if law in _SPRINKLED:
        # Both bounds, zeros of either sign, a subnormal number.
        edges = [low, high, *(value for value in (0.0, -0.0, _SUBNORMAL) if low <= value <= high)]
        places = _places(rng, size, len(edges))
        flat[places] = np.resize(edges, len(places))
    real = flat.astype(like.real.dtype)
    # Rounding must not leave the range.
    np.clip(real, np.array(low, real.dtype), np.array(high, real.dtype), out=real)
    return real.view(like.dtype).reshape(like.shape)


def _whole_numbers(rng: np.random.Generator, low: int, high: int, size: int, law: Law) -> npt.NDArray[np.uint64]:
    """Of [low, high], which are below 2^64 and not below 0."""
    values = rng.integers(low, high, size, dtype=np.uint64, endpoint=True)
    if law == "skewed":
        shifts = rng.integers(0, max((high - low).bit_length(), 1), size, dtype=np.uint64)
        values = np.uint64(low) + ((values - np.uint64(low)) >> shifts)
    elif law == "clustered":
        values = rng.choice(values[:3], size)
    elif law == "sorted":
        values.sort()
    elif law == "constant":
        values[:] = values[0]
    elif law == "extremes":
        values = rng.choice(np.array([low, high], np.uint64), size)
    if law in _SPRINKLED:
        # Both bounds and what is next to them, and where carries go from one half of a word to the other.
        edges = [value for value in (low, low + 1, high - 1, high, (1 << 32) - 1, 1 << 32) if low <= value <= high]
        places = _places(rng, size, len(edges))
        values[places] = np.resize(np.array(edges, np.uint64), len(places))
    return values


def _places(rng: np.random.Generator, size: int, edges: int) -> npt.NDArray[np.int64]:
    return rng.choice(size, min(size, 2 * edges), replace=False)
