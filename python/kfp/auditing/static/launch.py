"""How a kernel's arguments arrive in intermediate code: the layout of ``kfp_launch`` (cpp/msl/include/kfp_abi.h)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kfp.plan import Buffer, Dispatch, Plan

BUFFERS = 31
_POINTER = 8
_NUMBERS = 2 * BUFFERS * _POINTER + _POINTER
_AXES = "xyz"
# In the order of the structure, three numbers of 32 bits each.
_GEOMETRY = (
    "threads_per_grid",
    "dispatch_threads_per_threadgroup",
    "threads_per_threadgroup",
    "threadgroups_per_grid",
    "threadgroup_position_in_grid",
)


def buffer_at(offset: int) -> int | None:
    """The binding whose pointer lies at this offset of the launch."""
    index, rest = divmod(offset, _POINTER)
    return index if rest == 0 and 0 <= index < BUFFERS else None


def geometry_at(offset: int) -> tuple[str, int] | None:
    """(name, axis) of the number at this offset of the launch."""
    index, rest = divmod(offset - _NUMBERS, 4)
    if rest or not 0 <= index < 3 * len(_GEOMETRY):
        return None
    return _GEOMETRY[index // 3], index % 3


def geometry_name(offset: int) -> str | None:
    place = geometry_at(offset)
    return None if place is None else f"{place[0]}.{_AXES[place[1]]}"


@dataclass(frozen=True)
class Situation:
    """One dispatch of one configuration as a kernel sees it; ``memory`` has what is known to be bound, by index."""

    kernel: str
    memory: Mapping[int, bytes]
    grid: tuple[int, int, int]
    threadgroup: tuple[int, int, int]

    def geometry(self, offset: int) -> int | None:
        """The number at this offset of the launch, None where it differs between threadgroups."""
        place = geometry_at(offset)
        if place is None:
            return None
        name, axis = place
        grid, group = self.grid[axis], self.threadgroup[axis]
        if name == "threads_per_grid":
            return grid
        if name == "dispatch_threads_per_threadgroup":
            return group
        if name == "threads_per_threadgroup":
            return group if grid % group == 0 else None
        if name == "threadgroups_per_grid":
            return -(-grid // group)
        return None


# Of the dispatches of one configuration, those that differ in what a condition can ask for; more are not looked at.
MOST_SITUATIONS = 6
# Of every buffer so much from its start can be asked for.
MOST_BYTES = 1 << 16


def situations(plan: Plan) -> tuple[Situation, ...]:
    """The different situations of a plan's dispatches."""
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    found: dict[tuple[object, ...], Situation] = {}
    written: set[str] = set()
    for dispatch in plan.dispatches:
        bound = {index: value for index, value in dispatch.arguments.items() if isinstance(value, str)}
        scalars = {
            index: value.tobytes() for index, value in dispatch.arguments.items() if isinstance(value, np.generic)
        }
        key = (dispatch.kernel, tuple(sorted(scalars.items())), dispatch.grid, dispatch.threadgroup)
        if key not in found:
            found[key] = _situation(dispatch, scalars, {index: buffers[name] for index, name in bound.items()}, written)
        written.update(name for name in bound.values() if buffers[name].role != "input")
        if len(found) >= MOST_SITUATIONS:
            break
    return tuple(found.values())


def _situation(
    dispatch: Dispatch, scalars: Mapping[int, bytes], bound: Mapping[int, Buffer], written: set[str]
) -> Situation:
    memory: dict[int, bytes] = dict(scalars)
    for index, buffer in bound.items():
        initial = buffer.initial
        if initial is not None and buffer.name not in written:
            memory[index] = initial.reshape(-1)[: -(-MOST_BYTES // initial.dtype.itemsize)].tobytes()
    return Situation(dispatch.kernel, memory, dispatch.grid, dispatch.threadgroup)
