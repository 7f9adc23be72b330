"""Keeps references between evaluations of one process, so that a search pays for each of them once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from types import MappingProxyType

from kfp.tasks.base import Arrays, Configuration, Task

DEFAULT_BYTES = 256 << 20


class ReferenceCache:
    """Inputs and references by task and configuration; the least recently used go first when ``limit`` is reached.

    The key is the task's own: both are functions of its code and of the configuration. Cached arrays are read-only.
    An entry larger than the limit is computed anew each time.
    """

    def __init__(self, limit: int = DEFAULT_BYTES) -> None:
        self.limit = limit
        self.nbytes = 0
        self._entries: OrderedDict[Hashable, tuple[Arrays, Arrays | None, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, task: Task, configuration: Configuration) -> tuple[Arrays, Arrays]:
        """(inputs, expected) of the configuration."""
        key = task.data_key(configuration)
        inputs, expected = self._known(key)
        if inputs is None:
            inputs = _frozen(task.inputs(configuration))
        if expected is None:
            expected = _frozen(task.reference(configuration, inputs))
            self._keep(key, inputs, expected)
        return inputs, expected

    def inputs(self, task: Task, configuration: Configuration) -> Arrays:
        """Without the reference, which may take long."""
        key = task.data_key(configuration)
        inputs, _ = self._known(key)
        if inputs is None:
            inputs = _frozen(task.inputs(configuration))
            self._keep(key, inputs, None)
        return inputs

    def has_inputs(self, task: Task, configuration: Configuration) -> bool:
        with self._lock:
            return task.data_key(configuration) in self._entries

    def _known(self, key: Hashable) -> tuple[Arrays | None, Arrays | None]:
        with self._lock:
            if key not in self._entries:
                return None, None
            self._entries.move_to_end(key)
            return self._entries[key][:2]

    def _keep(self, key: Hashable, inputs: Arrays, expected: Arrays | None) -> None:
        nbytes = sum(array.nbytes for arrays in (inputs, expected or {}) for array in arrays.values())
        with self._lock:
            before = self._entries.pop(key, None)
            if before is not None:
                self.nbytes -= before[2]
            if nbytes <= self.limit:
                while self.nbytes + nbytes > self.limit:
                    self.nbytes -= self._entries.popitem(last=False)[1][2]
                self._entries[key] = (inputs, expected, nbytes)
                self.nbytes += nbytes

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self.nbytes = 0


def _frozen(arrays: Arrays) -> Arrays:
    for array in arrays.values():
        array.flags.writeable = False
    return MappingProxyType(dict(arrays))
