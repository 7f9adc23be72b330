"""What holds for a task of any suite: its plan fits its kernels, its brief its interface, its draws its contract."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.plan import Plan
from kfp.sources import seed_source
from kfp.tasks.base import Configuration, Scale, Task
from suite_cases import ALL, cases, drawn, name_of, published, whole_plan

SCALES: tuple[Scale, ...] = ("small", "full")
ITEMSIZE = {"float": 4, "float2": 8, "float4": 16, "uint": 4, "atomic_uint": 4, "char": 1, "ulong": 8}
SCALARS = {"float": np.float32, "uint": np.uint32, "ulong": np.uint64}

# Every draw of it searches a prime of up to 381 bits.
FEW_DRAWS = {"montgomery_msm": 40}

EVERY_TASK = pytest.mark.parametrize("task", ALL.values(), ids=name_of)


def check_contract(task: Task, configuration: Configuration) -> None:
    for entry in task.ranges:
        value = configuration.parameters[entry.name]
        assert value in entry, (configuration.label, str(entry), value)
        if entry.step == 0:
            assert np.isfinite(np.float32(value))


@pytest.mark.parametrize(("task", "configuration"), cases("small", draws=4), ids=name_of)
def test_dispatches_bind_what_the_kernels_declare(task: Task, configuration: Configuration) -> None:
    plan = whole_plan(task, configuration, task.inputs(configuration))
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    kernels = {kernel.name: kernel for kernel in task.kernels}
    assert {dispatch.kernel for dispatch in plan.dispatches} <= set(kernels)
    for dispatch in plan.dispatches:
        assert sorted(dispatch.arguments) == list(range(len(kernels[dispatch.kernel].arguments)))
        for argument in kernels[dispatch.kernel].arguments:
            value = dispatch.arguments[argument.index]
            if argument.access == "constant":
                assert isinstance(value, SCALARS[argument.dtype]), argument
                continue
            assert isinstance(value, str)
            assert buffers[value].nbytes > 0
            assert buffers[value].nbytes % ITEMSIZE[argument.dtype] == 0
            assert argument.access == "read" or buffers[value].role != "input", (dispatch.kernel, argument)
            if argument.access == "read":
                assert dispatch is not plan.dispatches[0] or buffers[value].role in ("input", "state"), argument


@EVERY_TASK
def test_every_kernel_is_launched(task: Task) -> None:
    launched = set()
    for configuration in task.configurations("small"):
        plan = whole_plan(task, configuration, task.inputs(configuration))
        launched |= {dispatch.kernel for dispatch in plan.dispatches}
    assert launched == {kernel.name for kernel in task.kernels}


@EVERY_TASK
def test_briefs_state_the_whole_interface(task: Task) -> None:
    for kernel in task.kernels:
        assert kernel.signature in task.brief
        assert f"kernel void {kernel.name}(" in kernel.signature
        assert [argument.index for argument in kernel.arguments] == list(range(len(kernel.arguments)))
        assert kernel.signature.count("[[buffer(") == len(kernel.arguments)
    for entry in task.ranges:
        assert str(entry) in task.brief
    assert "[[max_total_threads_per_threadgroup" in task.brief
    assert "Right:" in task.brief
    assert max(map(len, task.brief.splitlines())) <= 130


def numbers(text: str) -> set[int]:
    """Whole numbers in a text of any notation: decimal, hexadecimal, 2^k, 1 << k."""
    text = re.sub(r"\[\[buffer\(\d+\)\]\]", "", text)
    found = {int(number) for number in re.findall(r"(?<![\w.^])\d+(?![\w.])", text)}
    found |= {int(number, 16) for number in re.findall(r"0x([0-9a-fA-F]+)", text)}
    found |= {1 << min(int(power), 128) for power in re.findall(r"(?:\b2\^|\b1u?l? << )(\d+)", text)}
    return found


@EVERY_TASK
def test_neither_brief_nor_seed_holds_the_held_out_point(task: Task) -> None:
    """Sizes and moduli: small numbers are in every text, and say nothing."""
    searched = {value for c in task.configurations("full") for value in c.parameters.values()}
    held_out = {value for value in task.published_held_out("full").parameters.values() if value >= 300} - searched
    for text in (task.brief, task.title, task.regime, seed_source(task)):
        assert not held_out & numbers(text)


@EVERY_TASK
def test_the_published_points_differ(task: Task) -> None:
    for scale in SCALES:
        found = published(task, scale)
        assert len({configuration.label for configuration in found}) == len(found)
        assert [configuration.origin for configuration in found[:-1]] == ["in_distribution"] * (len(found) - 1)
        assert found[-1].origin == "published_held_out"
        assert {configuration.scale for configuration in found} == {scale}
        for configuration in found:
            check_contract(task, configuration)


@pytest.mark.parametrize("scale", SCALES)
@EVERY_TASK
def test_a_thousand_draws_keep_the_contract(task: Task, scale: Scale) -> None:
    count = FEW_DRAWS.get(task.name, 1000)
    found = drawn(task, scale, 1, count)
    for configuration in found:
        check_contract(task, configuration)
        assert (configuration.origin, configuration.scale) == ("drawn", scale)
    assert len(set(found)) > 0.99 * count


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**64 - 1), name=st.sampled_from(sorted(ALL)), scale=st.sampled_from(SCALES))
def test_a_draw_is_a_function_of_its_seed(seed: int, name: str, scale: Scale) -> None:
    first, second = (drawn(ALL[name], scale, seed, 2) for _ in range(2))
    assert first == second
    for configuration in first:
        check_contract(ALL[name], configuration)
        assert Configuration.from_json(json.loads(json.dumps(configuration.to_json()))) == configuration


@EVERY_TASK
def test_inputs_are_a_function_of_the_configuration(task: Task) -> None:
    configuration = task.draw(np.random.default_rng(6), "small")
    first, second = task.inputs(configuration), task.inputs(configuration)
    assert list(first) == list(second)
    for key in first:
        assert first[key].tobytes() == second[key].tobytes()


@EVERY_TASK
def test_another_seed_brings_other_data(task: Task) -> None:
    if task.name == "gradshaf":
        return  # its start is the same sine for every seed
    configuration = task.draw(np.random.default_rng(6), "small")
    twin = Configuration.from_json({**configuration.to_json(), "seed": configuration.seed + 1})
    first, second = task.inputs(configuration), task.inputs(twin)
    assert any(first[key].tobytes() != second[key].tobytes() for key in first)


@EVERY_TASK
def test_demands_are_positive_and_known(task: Task) -> None:
    configuration = task.configurations("small")[0]
    demands = task.demands(configuration, task.reference(configuration, task.inputs(configuration)))
    assert demands
    assert len({demand.resource for demand in demands}) == len(demands)
    assert all(0 < demand.amount < float("inf") for demand in demands)


@EVERY_TASK
def test_what_a_gate_may_vary_is_there(task: Task) -> None:
    ranges = {entry.name: entry for entry in task.ranges}
    for name in task.free_sizes:
        # The sizes next to another one must be legal.
        assert ranges[name].step
    for configuration in task.configurations("small"):
        inputs = task.inputs(configuration)
        for free in task.free_inputs:
            for name in (free.name, *free.also):
                assert inputs[name].shape == inputs[free.name].shape
            if inputs[free.name].dtype.kind == "u":
                # Of whole numbers the contract is exact: what is canonical.
                assert free.low <= np.min(inputs[free.name]) <= np.max(inputs[free.name]) <= free.high
        assert len({len(inputs[name]) for name in task.exchangeable}) <= 1


@EVERY_TASK
def test_laws_of_the_data_change_nothing_but_the_data(task: Task) -> None:
    first = task.configurations("small")[0]

    def plan_and_data(configuration: Configuration) -> tuple[Plan, list[bytes]]:
        plan = task.plan(configuration, task.inputs(configuration), {kernel.name: 1024 for kernel in task.kernels})
        return plan, [b"" if one.initial is None else one.initial.tobytes() for one in plan.buffers]

    usual, data = plan_and_data(first)
    # A scalar that is another one with every seed belongs to the data.
    with_other_data, _ = plan_and_data(replace(first, seed=first.seed + 1))
    for name, values in task.data_laws.items():
        assert name not in {entry.name for entry in task.ranges}
        for value in values:
            if value == first.parameters[name]:
                continue
            plan, others = plan_and_data(replace(first, parameters={**first.parameters, name: value}))
            assert [(one.grid, one.threadgroup) for one in plan.dispatches] == [
                (one.grid, one.threadgroup) for one in usual.dispatches
            ]
            for one, own, twin in zip(plan.dispatches, usual.dispatches, with_other_data.dispatches, strict=True):
                fixed = {index for index, value in own.arguments.items() if twin.arguments[index] == value}
                assert all(one.arguments[index] == own.arguments[index] for index in fixed)
            assert [(one.name, one.shape) for one in plan.buffers] == [(one.name, one.shape) for one in usual.buffers]
            assert others != data, (name, value)
