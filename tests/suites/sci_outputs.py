"""Right outputs of every sci task, in the shape and dtype of the plan's buffers, made from the references alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from kfp.plan import Plan
from kfp.tasks import all_tasks
from kfp.tasks.base import Array, Arrays, Configuration, Scale, Task
from kfp.tasks.sci._hmc_chains import simulate
from kfp.tasks.sci.morton import to_morton

TASKS = {task.name: task for task in all_tasks("sci")}
DRAWS = 2


def cases(scale: Scale) -> list[tuple[Task, Configuration]]:
    """Every published configuration of every task, and some drawn ones of the small scale."""
    found = []
    for task in TASKS.values():
        rng = np.random.default_rng(20)
        drawn = [task.draw(rng, scale) for _ in range(DRAWS if scale == "small" else 0)]
        published = [*task.configurations(scale), task.published_held_out(scale)]
        found += [(task, configuration) for configuration in published + drawn]
    return found


def name_of(case: object) -> str:
    if isinstance(case, Task):
        return case.name
    assert isinstance(case, Configuration)
    return f"{case.origin}-{case.label}".replace(" ", "")


def whole_plan(task: Task, configuration: Configuration, inputs: Arrays) -> Plan:
    return task.plan(configuration, inputs, {kernel.name: 1024 for kernel in task.kernels})


def right_outputs(task: Task, configuration: Configuration, inputs: Arrays, expected: Arrays) -> dict[str, Array]:
    values = dict(expected)
    if task.name == "hmc":
        # The reference follows some chains only; a device writes them all.
        q, accepted = simulate(
            inputs["q"].astype(np.float64),
            np.arange(configuration.integer("K")),
            inputs["A"].astype(np.float64),
            eps=configuration.real("eps"),
            leapfrogs=configuration.integer("L"),
            steps=configuration.integer("steps"),
            seed=configuration.integer("seed"),
        )
        values |= {"q": q, "accept_cnt": accepted}
    if task.name in ("nbody", "lj"):
        values["pos"] = np.pad(values["pos"], ((0, 0), (0, 1)))
    if task.name == "morton":
        values["u"] = to_morton(values["u"])
    plan = whole_plan(task, configuration, inputs)
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    outputs = {}
    for name, buffer_name in plan.outputs.items():
        buffer = buffers[buffer_name]
        assert buffer.role in ("state", "output")
        outputs[name] = values[name].astype(buffer.dtype)
        assert outputs[name].shape == buffer.shape
    return outputs


def shorter(configuration: Configuration) -> Configuration | None:
    """The same with one step fewer, if it has steps."""
    for key in ("steps", "sweeps"):
        if key in configuration.parameters:
            fewer = {**configuration.parameters, key: configuration.integer(key) - 1}
            return replace(configuration, parameters=fewer)
    return None
