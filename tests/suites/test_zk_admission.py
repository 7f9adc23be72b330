"""A zk task is admitted only if its check passes what is right and fails whatever differs from it in a single bit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from kfp.tasks import get_task
from kfp.tasks.base import Array, Arrays, Check, Configuration, Task
from suite_cases import cases, drawn, name_of, prepared, whole_plan
from zk_outputs import fixed_part, right_outputs

CASES = pytest.mark.parametrize(("task", "configuration"), cases("small", "zk", draws=4), ids=name_of)


def verdict(task: Task, configuration: Configuration, changed: Arrays) -> Check:
    inputs, expected = prepared(task, configuration)
    check = task.check(configuration, inputs, {**right_outputs(task, configuration), **changed}, expected)
    assert check.correct == (check.error <= check.tolerance)
    assert check.correct or check.detail
    return check


def positions(value: Array) -> Iterator[tuple[int, ...]]:
    """First, last, one in the middle; of points, whose coordinates at infinity mean nothing, those that are finite."""
    rows = np.arange(value.shape[0])
    if value.ndim == 2 and value.shape[1] == 18:
        rows = rows[value[:, 12:].any(axis=1)]
    width = value.size // value.shape[0]
    for flat in {0, rows.size * width // 2, rows.size * width - 1} if rows.size else ():
        row, *rest = np.unravel_index(flat, (rows.size, *value.shape[1:]))
        yield (int(rows[row]), *(int(i) for i in rest))


@CASES
def test_passes_the_reference(task: Task, configuration: Configuration) -> None:
    check = verdict(task, configuration, {})
    assert check.correct, check
    assert (check.error, check.tolerance) == (0.0, 0.0)


@CASES
def test_fails_what_is_wholly_wrong(task: Task, configuration: Configuration) -> None:
    right = right_outputs(task, configuration)
    for fill in (0, 1, 0x5A, 0xFF):
        changed = {name: np.full(value.nbytes, fill, np.uint8).view(value.dtype) for name, value in right.items()}
        changed = {name: value.reshape(right[name].shape) for name, value in changed.items()}
        if all((changed[name] == value).all() for name, value in right.items()):
            continue
        assert not verdict(task, configuration, changed).correct, fill


@CASES
def test_fails_what_the_buffers_hold_before_a_run(task: Task, configuration: Configuration) -> None:
    inputs, _ = prepared(task, configuration)
    plan = whole_plan(task, configuration, inputs)
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    stale = {}
    for name, buffer_name in plan.outputs.items():
        buffer = buffers[buffer_name]
        poison = np.full(buffer.nbytes, 0xFF, np.uint8).view(buffer.dtype).reshape(buffer.shape)
        stale[name] = poison if buffer.initial is None else buffer.initial
    assert not verdict(task, configuration, stale).correct


@CASES
def test_fails_a_single_wrong_bit(task: Task, configuration: Configuration) -> None:
    for name, value in right_outputs(task, configuration).items():
        for where in positions(fixed_part(task, name, value)):
            for bit in (0, 31, value.dtype.itemsize * 8 - 1):
                changed = value.copy()
                changed[where] ^= value.dtype.type(1 << bit)
                assert not verdict(task, configuration, {name: changed}).correct, (name, where, bit)


@CASES
def test_fails_swapped_halves_of_a_word(task: Task, configuration: Configuration) -> None:
    for name, value in right_outputs(task, configuration).items():
        part = fixed_part(task, name, value)
        half = value.dtype.type(value.dtype.itemsize * 4)
        swapped = (part << half) | (part >> half)
        differing = np.argwhere(swapped != part)
        for index in differing[:: max(1, len(differing) // 3)]:
            where = tuple(int(i) for i in index)
            changed = value.copy()
            changed[where] = swapped[where]
            assert not verdict(task, configuration, {name: changed}).correct, (name, where)


@CASES
def test_fails_swapped_and_shifted_elements(task: Task, configuration: Configuration) -> None:
    for name, value in right_outputs(task, configuration).items():
        part = fixed_part(task, name, value)
        for axis in range(part.ndim):
            shifted = np.roll(part, 1, axis)
            if part.shape[axis] == 1 or (shifted == part).all():
                continue
            changed = value.copy()
            changed[: part.shape[0]] = shifted
            assert not verdict(task, configuration, {name: changed}).correct, (name, axis)


# Elements of these outputs are words of their own, below a modulus that leaves room for a second representative.
CANONICAL = {
    "goldilocks_ntt": "y",
    "poseidon2_hash": "out_state",
    "merkle_build": "tree",
    "fri_round": "tree",
    "kyber_ntt": "coeffs",
    "modmul_montgomery": "y",
    "multilinear_sumcheck_round": "f_out",
}


@pytest.mark.parametrize("name", CANONICAL)
def test_fails_values_that_are_not_canonical(name: str) -> None:
    """The right residue class, one modulus too high, for small elements put where they fit into the word."""
    task, output = get_task(name), CANONICAL[name]
    for configuration in [*task.configurations("small"), *drawn(task, "small", 3, 4)]:
        inputs, expected = prepared(task, configuration)
        right = right_outputs(task, configuration)
        modulus = configuration.parameters.get("q", configuration.parameters.get("modulus", 2**64 - 2**32 + 1))
        if configuration.parameters.get("prime_kind") == 1:
            modulus = 2**31 - 2**27 + 1
        room = (1 << 8 * right[output].itemsize) - int(modulus)
        for where in positions(right[output]):
            small, high = right[output].copy(), right[output].copy()
            small[where] = min(room, int(modulus)) - 1
            high[where] = int(small[where]) + int(modulus)
            wanted = {**expected, output: small}
            assert task.check(configuration, inputs, {**right, output: small}, wanted).correct
            check = task.check(configuration, inputs, {**right, output: high}, wanted)
            assert not check.correct
            assert "not canonical (the right residue class)" in check.detail


def test_one_wrong_element_in_a_million_is_found() -> None:
    task = get_task("poseidon2_hash")
    configuration = task.configurations("full")[-1]
    shape = (configuration.integer("batch"), configuration.integer("t"))
    expected = {"out_state": np.arange(shape[0] * shape[1], dtype=np.uint64).reshape(shape)}
    output = expected["out_state"].copy()
    assert task.check(configuration, {}, {"out_state": output}, expected).correct
    output[987_654, 1] += np.uint64(1)
    check = task.check(configuration, {}, {"out_state": output}, expected)
    assert not check.correct
    assert check.error == 1.0
    assert "1 of 3145728 elements differ; first at out_state[987654, 1]" in check.detail
