"""Runs kernels of the corpus, to hold what is claimed of them against what they do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from kfp import _core, bridge, machine
from kfp.compiling import compile_source
from kfp.limits import Limits
from kfp.results import KernelSignature
from kfp.running import references, run_configuration
from kfp.tasks.base import Configuration, Task


@dataclass(frozen=True)
class Compiled:
    worker: _core.Worker
    library: int
    kernels: tuple[KernelSignature, ...]

    def verdict(self, task: Task, configuration: Configuration) -> tuple[str, str]:
        run = run_configuration(
            self.worker, self.library, self.kernels, task, configuration, None,
            checked=False, progress=lambda stage: None,
        )  # fmt: skip
        return run.verdict, run.result.detail

    def prepared(self, task: Task, configuration: Configuration) -> int:
        caps = {kernel.name: kernel.max_total_threads_per_threadgroup for kernel in self.kernels}
        inputs, _ = references.get(task, configuration)
        return self.worker.prepare(self.library, bridge.plan(task.plan(configuration, inputs, caps)))


@contextmanager
def opened() -> Iterator[_core.Worker]:
    with machine.open_worker(machine.resolve("cpu"), Limits()) as worker:
        yield worker


def compiled(worker: _core.Worker, source: str) -> Compiled:
    """Raises ``ValueError`` with the compiler's reason if there is none."""
    found = compile_source(worker, machine.resolve("cpu"), source, math="fast")
    if found.library is None:
        raise ValueError(found.reason)
    return Compiled(worker, found.library, found.kernels)


def seconds(worker: _core.Worker, executions: Sequence[int], samples: int = 5) -> list[float]:
    """The shortest of so many samples of each, interleaved: what the kernels take, whatever else the machine does."""
    order = np.tile(np.arange(len(executions)), samples + 1)
    times, _ = worker.sample(executions, order, 1)
    return [float(value) for value in times.reshape(samples + 1, -1)[1:].min(axis=0)]
