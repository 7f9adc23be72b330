"""Two buffers that swap roles after every dispatch."""

from __future__ import annotations

from kfp.plan import Buffer, blank, given
from kfp.tasks.base import Array


class PingPong:
    """Two buffers of one shape that swap after each of ``steps`` dispatches; the first holds the start."""

    def __init__(self, name: str, initial: Array, steps: int, *, read_back: bool = True) -> None:
        self._names = (f"{name}_a", f"{name}_b")
        self.final = self._names[steps % 2]
        second_is_output = read_back and self.final == self._names[1]
        self.buffers: tuple[Buffer, Buffer] = (
            given(self._names[0], initial, "state"),
            blank(self._names[1], initial.shape, initial.dtype, "output" if second_is_output else "scratch"),
        )

    def at(self, step: int) -> tuple[str, str]:
        """(source, target) of dispatch number ``step``."""
        return self._names[step % 2], self._names[(step + 1) % 2]
