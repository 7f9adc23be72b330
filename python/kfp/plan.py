"""A plan as data: the buffers of one configuration and the dispatches over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Role: TypeAlias = Literal["input", "state", "output", "scratch"]
Scalar: TypeAlias = np.generic
Size3: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Buffer:
    """One buffer of a plan.

    ``initial`` is its content before every run, of exactly ``shape`` and ``dtype``; it is required for the roles
    ``input`` and ``state`` and must be absent for ``output`` and ``scratch``, which are poisoned instead.
    """

    name: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    role: Role
    initial: npt.NDArray[np.generic] | None = None

    def __post_init__(self) -> None:
        needs_content = self.role in ("input", "state")
        if needs_content != (self.initial is not None):
            wanted = "needs" if needs_content else "must not have"
            raise ValueError(f"buffer {self.name!r}: role {self.role!r} {wanted} initial content")
        if self.initial is not None and (self.initial.dtype != self.dtype or self.initial.shape != self.shape):
            raise ValueError(
                f"buffer {self.name!r}: expected initial content of {self.dtype}{self.shape}, "
                f"got {self.initial.dtype}{self.initial.shape}"
            )

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


def given(name: str, values: npt.NDArray[np.generic], role: Role = "input") -> Buffer:
    """A buffer that starts with ``values``: role ``input``, or ``state`` if kernels write it."""
    content = np.ascontiguousarray(values)
    return Buffer(name, content.dtype, content.shape, role, content)


def blank(name: str, shape: tuple[int, ...], dtype: npt.DTypeLike, role: Role = "output") -> Buffer:
    """A buffer that starts poisoned: role ``output`` if it is read back, ``scratch`` if not."""
    return Buffer(name, np.dtype(dtype), shape, role)


@dataclass(frozen=True)
class ThreadgroupMemory:
    """A ``[[threadgroup(n)]]`` argument of ``nbytes`` bytes, a multiple of 16."""

    nbytes: int


Argument: TypeAlias = "str | Scalar | ThreadgroupMemory"


@dataclass(frozen=True, eq=False)
class Dispatch:
    """One ``dispatchThreads`` call.

    ``arguments`` maps a binding index to the name of a buffer, a numpy scalar (bound as ``constant T&``), or
    ``ThreadgroupMemory``. ``grid`` is threadsPerGrid and may be ragged, ``threadgroup`` threadsPerThreadgroup.
    """

    kernel: str
    arguments: Mapping[int, Argument]
    grid: Size3
    threadgroup: Size3


@dataclass(frozen=True, eq=False)
class Plan:
    """Buffers and dispatches, in order; every dispatch sees what those before it wrote.

    ``outputs`` maps the names that the task's check knows to the buffer that holds each at the end (with ping-pong
    buffers that depends on the number of steps).
    """

    buffers: tuple[Buffer, ...]
    dispatches: tuple[Dispatch, ...]
    outputs: Mapping[str, str]


def round_up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple


def linear(n: int, width: int, cap: int = 1024) -> tuple[Size3, Size3]:
    """(grid, threadgroup) of a one-dimensional dispatch over n threads, rounded up; a lower ``cap`` narrows it."""
    width = min(width, cap)
    return (round_up(n, width), 1, 1), (width, 1, 1)


def tiled_2d(nx: int, ny: int, cap: int = 1024) -> tuple[Size3, Size3]:
    """16x16 threadgroups, rounded up; the height is halved until the threadgroup fits ``cap``."""
    height = 16
    while 16 * height > cap and height > 1:
        height //= 2
    width = 16 if 16 * height <= cap else max(cap, 1)
    return (round_up(nx, width), round_up(ny, height), 1), (width, height, 1)


def tiled_3d(nx: int, ny: int, nz: int, cap: int = 1024) -> tuple[Size3, Size3]:
    """8x8x4 threadgroups, rounded up; z is halved first, then y, then x, until the threadgroup fits ``cap``."""
    shape = [8, 8, 4]
    for axis in (2, 1, 0):
        while shape[0] * shape[1] * shape[2] > cap and shape[axis] > 1:
            shape[axis] //= 2
    x, y, z = shape
    return (round_up(nx, x), round_up(ny, y), round_up(nz, z)), (x, y, z)
