"""A task is admitted only if its check passes what is right and fails what broken or cheating kernels leave behind."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pytest
from kfp.tasks.base import Array, Arrays, Check, Configuration, Task
from kfp.tasks.sci.morton import from_morton, to_morton
from sci_outputs import cases, name_of, right_outputs, shorter

# Outputs whose cells on a face of the grid must copy through.
FIXED_FACES = ("heat2d", "wave3d", "gradshaf", "morton", "adi3d")


@lru_cache(maxsize=1)
def prepared(task: Task, configuration: Configuration) -> tuple[Arrays, Arrays, Arrays]:
    inputs = task.inputs(configuration)
    expected = task.reference(configuration, inputs)
    return inputs, expected, right_outputs(task, configuration, inputs, expected)


def verdict(task: Task, configuration: Configuration, changed: Arrays) -> Check:
    inputs, expected, right = prepared(task, configuration)
    check = task.check(configuration, inputs, {**right, **changed}, expected)
    assert check.correct == (check.error <= check.tolerance)
    assert check.correct or check.detail
    return check


def main_output(outputs: Arrays) -> str:
    return next(iter(outputs))


def stale(task: Task, inputs: Arrays, right: Arrays) -> dict[str, Array]:
    """What the output buffers held before the run."""
    first = {"u": "u", "pos": "pos", "q": "q", "f": "f", "spins": "spins", "psi": "psi", "y": "y"}
    if task.name == "wave3d":
        first["u"] = "u_curr"
    return {name: inputs[first.get(name, name)] for name in right if name != "accept_cnt"}


def wholly_wrong(task: Task, configuration: Configuration) -> Iterator[tuple[str, dict[str, Array]]]:
    inputs, _, right = prepared(task, configuration)
    yield "zeros", {name: np.zeros_like(value) for name, value in right.items()}
    yield "ones", {name: np.ones_like(value) for name, value in right.items()}
    yield "mean", {name: np.full_like(value, value.mean()) for name, value in right.items()}
    yield "stale", stale(task, inputs, right)
    key = main_output(right)
    yield "wrong sign", {key: -right[key]}
    poison = {name: np.full(value.nbytes, 0xFF, np.uint8).view(value.dtype) for name, value in right.items()}
    yield "poison", {name: value.reshape(right[name].shape) for name, value in poison.items()}


def boundary_positions(task: Task, value: Array) -> Iterator[tuple[int, ...]]:
    """First and last element, and one in the middle of an edge or end."""
    yield (0,) * value.ndim
    last = tuple(extent - 1 for extent in value.shape)
    # The fourth component of a float4 means nothing.
    yield (last[0], 2) if task.name in ("nbody", "lj") else last
    if value.ndim > 1 and task.name not in ("nbody", "lj"):
        yield (*(extent // 2 for extent in value.shape[:-1]), value.shape[-1] - 1)


@pytest.mark.parametrize(("task", "configuration"), cases("small"), ids=name_of)
class TestSmall:
    def test_passes_the_reference(self, task: Task, configuration: Configuration) -> None:
        check = verdict(task, configuration, {})
        assert check.correct, check

    def test_fails_what_is_wholly_wrong(self, task: Task, configuration: Configuration) -> None:
        for what, changed in wholly_wrong(task, configuration):
            assert not verdict(task, configuration, changed).correct, what

    def test_fails_a_single_value_that_is_not_finite(self, task: Task, configuration: Configuration) -> None:
        _, _, right = prepared(task, configuration)
        key = main_output(right)
        if right[key].dtype.kind not in "fc":
            return
        for poison in (np.nan, np.inf, -np.inf):
            for where in boundary_positions(task, right[key]):
                changed = right[key].copy()
                changed[where] = poison
                assert not verdict(task, configuration, {key: changed}).correct, (poison, where)

    def test_fails_one_wrong_boundary_cell(self, task: Task, configuration: Configuration) -> None:
        _, expected, right = prepared(task, configuration)
        key = main_output(right)
        tolerance = verdict(task, configuration, {}).tolerance
        for where in boundary_positions(task, right[key]):
            changed = right[key].copy()
            if task.name == "ising":
                changed[where] *= -1
            elif task.name == "hmc":
                changed[where] = 9.0 * np.sqrt(expected["covariance"].diagonal()[where[1]])
            elif task.name in FIXED_FACES:
                changed[where] = 1e-3 * tolerance
            else:
                changed[where] += 2.0 * tolerance
            assert not verdict(task, configuration, {key: changed}).correct, where

    def test_fails_a_last_row_that_was_not_written(self, task: Task, configuration: Configuration) -> None:
        """The ragged end is where guards go wrong: the last interior row, body, chain or element keeps its start."""
        inputs, _, right = prepared(task, configuration)
        key = main_output(right)
        changed = right[key].copy()
        start = stale(task, inputs, right)[key]
        if task.name == "morton":
            half = changed.size // 2
            changed[half:] = start[half:]
        elif task.name == "hmc":
            tail = configuration.integer("K") % 64 or 64
            changed[-tail:] = start[-tail:]
        elif task.name == "saxpy":
            changed[-32:] = start[-32:]
        elif task.name in ("nbody", "lj"):
            changed[-8:] = start[-8:]
        else:
            changed[..., -3:-1, :] = start[..., -3:-1, :]
        assert not verdict(task, configuration, {key: changed}).correct

    def test_fails_swapped_axes(self, task: Task, configuration: Configuration) -> None:
        _, _, right = prepared(task, configuration)
        key = main_output(right)
        value = right[key]
        if task.name in ("nbody", "lj"):
            swapped = value[:, [1, 0, 2, 3]]
        elif task.name == "saxpy":
            swapped = value[::-1].copy()
        elif task.name == "morton":
            swapped = to_morton(np.swapaxes(from_morton(value), -1, -2))
        else:
            swapped = np.swapaxes(value, -1, -2).reshape(value.shape)
        assert not verdict(task, configuration, {key: swapped}).correct

    def test_fails_a_shifted_result(self, task: Task, configuration: Configuration) -> None:
        _, _, right = prepared(task, configuration)
        key = main_output(right)
        for axis in range(right[key].ndim):
            assert not verdict(task, configuration, {key: np.roll(right[key], 1, axis)}).correct, axis

    def test_fails_a_run_with_one_step_fewer(self, task: Task, configuration: Configuration) -> None:
        if task.name == "saxpy":
            return  # a single dispatch: one fewer is the stale output
        inputs, _, _ = prepared(task, configuration)
        if task.name == "fft3d":
            changed = {
                name: np.fft.fftn(cube, axes=(1, 2)).astype(np.complex64) for name, cube in inputs.items()
            }  # without the pass along z
        else:
            fewer = shorter(configuration)
            assert fewer is not None
            changed = right_outputs(task, fewer, inputs, task.reference(fewer, inputs))
        assert not verdict(task, configuration, changed).correct


@pytest.mark.full
@pytest.mark.parametrize(("task", "configuration"), cases("full"), ids=name_of)
def test_full_size(task: Task, configuration: Configuration) -> None:
    _, _, right = prepared(task, configuration)
    try:
        assert verdict(task, configuration, {}).correct
        for what, changed in wholly_wrong(task, configuration):
            assert not verdict(task, configuration, changed).correct, what
        key = main_output(right)
        for where in boundary_positions(task, right[key]):
            changed = right[key].copy()
            changed[where] = np.nan if task.name != "ising" else -changed[where]
            assert not verdict(task, configuration, {key: changed}).correct, where
            if task.name in FIXED_FACES:
                changed[where] = 1e-6
                assert not verdict(task, configuration, {key: changed}).correct, where
    finally:
        prepared.cache_clear()
