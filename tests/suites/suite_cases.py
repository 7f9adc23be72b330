"""Configurations of the tasks of every suite, for tests that hold whatever the task."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from kfp.plan import Plan
from kfp.tasks import all_tasks
from kfp.tasks.base import Arrays, Configuration, Scale, Task

ALL = {task.name: task for task in all_tasks()}


def drawn(task: Task, scale: Scale, seed: int, count: int) -> list[Configuration]:
    rng = np.random.default_rng(seed)
    return [task.draw(rng, scale) for _ in range(count)]


def published(task: Task, scale: Scale) -> list[Configuration]:
    return [*task.configurations(scale), task.published_held_out(scale)]


def cases(scale: Scale, suite: str | None = None, draws: int = 0) -> list[tuple[Task, Configuration]]:
    """Every published configuration of every task, and some drawn ones."""
    return [
        (task, configuration)
        for task in all_tasks(suite)
        for configuration in published(task, scale) + drawn(task, scale, 20, draws)
    ]


def name_of(case: object) -> str:
    if isinstance(case, Task):
        return case.name
    assert isinstance(case, Configuration)
    return f"{case.origin}-{case.label}".replace(" ", "")


def whole_plan(task: Task, configuration: Configuration, inputs: Arrays) -> Plan:
    return task.plan(configuration, inputs, {kernel.name: 1024 for kernel in task.kernels})


# Holds all cases of the small scale, which the tests of a module go through one after the other.
@lru_cache(maxsize=128)
def prepared(task: Task, configuration: Configuration) -> tuple[Arrays, Arrays]:
    """(inputs, expected)."""
    inputs = task.inputs(configuration)
    return inputs, task.reference(configuration, inputs)
