"""Drawn configurations keep to the contract, spread over the whole axis, and depend on their seed alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from kfp.tasks.base import Configuration, Scale, Task
from kfp.tasks.sci import lj
from sci_outputs import TASKS

SCALES: tuple[Scale, ...] = ("small", "full")

# The axis of the specification: inclusive ranges of what is drawn at full scale.
AXES: dict[str, dict[str, tuple[float, float]]] = {
    "saxpy": {"N": (2**18, 2**26)},
    "heat2d": {"NX": (200, 1100), "NY": (200, 1100), "alpha": (0.05, 0.25)},
    "wave3d": {"NX": (48, 200), "NY": (48, 200), "NZ": (48, 200), "alpha": (0.05, 0.30)},
    "nbody": {"N": (200, 2600)},
    "hmc": {"d": (4, 32), "K": (700, 20000)},
    "lbm": {"NX": (48, 300), "NY": (48, 300), "tau": (0.6, 1.6)},
    "ising": {"NX": (200, 2100), "NY": (200, 2100), "beta": (0.2, 0.6)},
    "lj": {"N": (11**3, 23**3), "M": (3, 26)},
    "gradshaf": {"NR": (50, 560), "NZ": (50, 560)},
    "fft3d": {"N": (16, 256)},
    "morton": {"N": (16, 256), "alpha": (0.02, 0.16)},
    "adi3d": {"NX": (40, 260), "NY": (40, 260), "NZ": (40, 260), "mu": (0.1, 2.0)},
}


def check_contract(task: Task, configuration: Configuration) -> None:
    for entry in task.ranges:
        value = configuration.parameters[entry.name]
        assert value in entry, (configuration.label, str(entry), value)
        if entry.step == 0:
            assert np.isfinite(np.float32(value))


def check_drawn(task: Task, configuration: Configuration, scale: Scale) -> None:
    check_contract(task, configuration)
    assert (configuration.origin, configuration.scale) == ("drawn", scale)
    p = configuration.parameters
    if scale == "full":
        for key, (low, high) in AXES[task.name].items():
            assert low <= p[key] <= high, (key, p[key])
    sizes = [p[key] for key in ("NX", "NY", "NZ", "NR") if key in p]
    assert len(set(sizes)) == len(sizes), "axes must differ"
    if task.name in ("saxpy", "nbody"):
        assert p["N"] % 32
    if task.name == "hmc":
        assert p["d"] % 2 == 0
        assert 1.4 <= p["eps"] * p["L"] <= 2.4
    if task.name == "lj":
        side = round(p["N"] ** (1 / 3))
        assert side**3 == p["N"]
        assert p["L"] / p["M"] >= lj.RCUT


def draws(task: Task, scale: Scale, seed: int, count: int) -> list[Configuration]:
    rng = np.random.default_rng(seed)
    return [task.draw(rng, scale) for _ in range(count)]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", TASKS)
def test_a_thousand_draws_keep_the_contract(name: str, scale: Scale) -> None:
    found = draws(TASKS[name], scale, 1, 1000)
    for configuration in found:
        check_drawn(TASKS[name], configuration, scale)
    assert len(set(found)) > 990


@pytest.mark.full
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", TASKS)
def test_ten_thousand_draws_keep_the_contract(name: str, scale: Scale) -> None:
    for configuration in draws(TASKS[name], scale, 2, 10_000):
        check_drawn(TASKS[name], configuration, scale)


@pytest.mark.parametrize("name", TASKS)
def test_draws_cover_their_axis(name: str) -> None:
    found = draws(TASKS[name], "full", 4, 1000)
    for key, (low, high) in AXES[name].items():
        if name == "lj" and key == "M":
            continue  # follows from the size of the box
        values = [float(configuration.parameters[key]) for configuration in found]
        if high / low > 100:
            low, high, values = math.log(low), math.log(high), [math.log(value) for value in values]
        reach = high - low
        assert min(values) < low + 0.08 * reach, key
        assert max(values) > high - 0.08 * reach, key


def test_sizes_that_tune_to_nothing_are_drawn() -> None:
    for name in ("heat2d", "lbm", "gradshaf", "adi3d", "wave3d"):
        keys = [key for key in ("NX", "NY", "NZ", "NR") if key in TASKS[name].configurations("full")[0].parameters]
        found = draws(TASKS[name], "full", 5, 200)
        odd = sum(configuration.integer(key) % 2 for configuration in found for key in keys)
        assert 0.4 < odd / (len(found) * len(keys)) < 0.6


def test_only_the_tasks_with_a_menu_of_sizes_call_their_axis_weak() -> None:
    assert {name for name, task in TASKS.items() if task.weak_axis} == {"fft3d", "morton"}
