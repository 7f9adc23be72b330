"""Names, buffer indices, types and dispatch geometry are those of the published interface."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from kfp.errors import PlanError
from kfp.plan import Dispatch
from kfp.tasks.base import Configuration, Task
from sci_outputs import TASKS, whole_plan

# Per kernel: the types of buffers 0, 1, ... as the specification has them.
R, W, U, F = "device const float*", "device float*", "constant uint&", "constant float&"
R4, W4, R2, W2 = "device const float4*", "device float4*", "device const float2*", "device float2*"
INTERFACE: dict[str, tuple[str, ...]] = {
    "saxpy": (R, W, F, U),
    "heat_step": (R, W, U, U, F),
    "wave_step": (R, R, W, U, U, U, F),
    "nbody_step": (R4, W4, R4, W4, R, U, F, F, F),
    "hmc_step": (R, W, "device uint*", R, U, U, U, F, U, U),
    "lbm_step": (R, W, U, U, F),
    "ising_step": ("device char*", R, U, U, U, U),
    "lj_clear_cells": ("device atomic_uint*", U),
    "lj_build_cells": (R4, "device atomic_uint*", "device uint*", U, U, F, U),
    "lj_step": (R4, W4, R4, W4, "device const uint*", "device const uint*", U, U, F, F, F, U),
    "gradshaf_axis_reduce": (R, W, U, U),
    "gradshaf_step": (R, W, R, U, U, F, F, F, F, F, F),
    "fft3d_x": (R2, W2, U),
    "fft3d_y": (R2, W2, U),
    "fft3d_z": (R2, W2, U),
    "morton_stencil": (R, W, U, U, F),
    "adi_x": (R, W, U, U, U, F),
    "adi_y": (R, W, U, U, U, F),
    "adi_z": (R, W, U, U, U, F),
}

FULL_SCALE = {
    "saxpy": [(2**20,), (2**24,), (2**26,), (2**22,)],
    "heat2d": [(256, 256, 50), (512, 512, 100), (1024, 1024, 50), (768, 768, 75)],
    "wave3d": [(64, 64, 64, 30), (160, 160, 160, 20), (192, 192, 192, 15), (128, 128, 128, 20)],
    "nbody": [(256, 10), (1024, 10), (2048, 10), (512, 10)],
    "hmc": [(8, 16384), (16, 4096), (32, 1024), (24, 2048)],
    "lbm": [(64, 64, 50), (128, 128, 100), (256, 256, 100), (192, 192, 75)],
    "ising": [(256, 256, 100), (1024, 1024, 50), (2048, 2048, 25), (1536, 1536, 40)],
    "lj": [(1728, 5, 13.8, 20), (4096, 7, 18.4, 15), (10648, 10, 25.3, 10), (2744, 6, 16.1, 12)],
    "gradshaf": [(65, 65, 30), (257, 257, 40), (513, 513, 30), (129, 129, 35)],
    "fft3d": [(32,), (64,), (128,), (256,)],
    "morton": [(32, 120), (64, 60), (128, 30), (256, 10)],
    "adi3d": [(64, 64, 64, 20), (96, 96, 96, 15), (128, 128, 128, 10), (256, 192, 128, 10)],
}
CONSTANTS = {
    "saxpy": {"a": 2.5},
    "heat2d": {"alpha": 0.2},
    "wave3d": {"alpha": 0.18},
    "nbody": {"dt": 1e-3, "eps": 0.05, "G": 1.0},
    "hmc": {"eps": 0.2, "L": 10, "steps": 200, "seed": 0xCAFEBEEF},
    "lbm": {"tau": 0.8},
    "ising": {"beta": 0.42, "seed": 0xC0FFEE01},
    "lj": {"dt": 0.005},
    "gradshaf": {"p_axis": 200.0, "mu0": 1.0, "omega": 1.0},
    "fft3d": {"batch": 1, "amplitude": 1.0, "phase": 0.0},
    "morton": {"alpha": 0.1},
    "adi3d": {"mu": 0.5},
}


def small(name: str, index: int = 0) -> tuple[Task, Configuration]:
    return TASKS[name], TASKS[name].configurations("small")[index]


def dispatches(name: str, caps: dict[str, int], index: int = 0) -> tuple[Dispatch, ...]:
    task, configuration = small(name, index)
    everything = {kernel.name: 1024 for kernel in task.kernels}
    return task.plan(configuration, task.inputs(configuration), everything | caps).dispatches


def threads(plan_dispatches: tuple[Dispatch, ...], kernel: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    found = next(dispatch for dispatch in plan_dispatches if dispatch.kernel == kernel)
    return found.grid, found.threadgroup


def test_there_are_twelve_tasks() -> None:
    assert list(TASKS) == list(FULL_SCALE)


@pytest.mark.parametrize("name", TASKS)
def test_full_scale_is_the_published_one(name: str) -> None:
    task = TASKS[name]
    for configuration, size in zip(
        [*task.configurations("full"), task.published_held_out("full")], FULL_SCALE[name], strict=True
    ):
        values = [value for key, value in configuration.parameters.items() if key not in CONSTANTS[name]]
        assert tuple(values)[: len(size)] == size
        assert CONSTANTS[name].items() <= configuration.parameters.items()
        assert configuration.parameters.get("roughness", 0) == 0
        numbers = re.findall(r"[\d.]+", configuration.label)
        assert {str(number) for number in size} <= set(numbers)


def test_kernels_take_the_published_buffers() -> None:
    kernels = {kernel.name: kernel for task in TASKS.values() for kernel in task.kernels}
    assert list(kernels) == list(INTERFACE)
    for name, kernel in kernels.items():
        assert [argument.index for argument in kernel.arguments] == list(range(len(INTERFACE[name])))
        assert tuple(a.declaration.rsplit(" ", 1)[0] for a in kernel.arguments) == INTERFACE[name]


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["heat2d", "wave3d", "nbody", "lbm", "gradshaf", "morton", "adi3d"])
def test_the_output_is_what_the_last_dispatch_wrote(name: str, steps: int) -> None:
    task, first = small(name)
    configuration = Configuration("steps", {**first.parameters, "steps": steps}, scale="small")
    plan = whole_plan(task, configuration, task.inputs(configuration))
    last = plan.dispatches[-1]
    written = [
        last.arguments[argument.index]
        for argument in next(kernel for kernel in task.kernels if kernel.name == last.kernel).arguments
        if argument.access == "write"
    ]
    assert plan.outputs[next(iter(plan.outputs))] == written[0]
    roles = {buffer.name: buffer.role for buffer in plan.buffers}
    assert roles[str(written[0])] in ("output", "state")


def test_wave3d_rotates_three_buffers() -> None:
    found = dispatches("wave3d", {})
    for before, after in pairwise(found):
        assert (after.arguments[0], after.arguments[1]) == (before.arguments[1], before.arguments[2])
        assert after.arguments[2] == before.arguments[0]


@pytest.mark.parametrize(
    ("cap", "expected"),
    [(1024, (16, 16, 1)), (256, (16, 16, 1)), (255, (16, 8, 1)), (64, (16, 4, 1)), (17, (16, 1, 1))],
)
@pytest.mark.parametrize(
    ("name", "kernel"),
    [("heat2d", "heat_step"), ("lbm", "lbm_step"), ("ising", "ising_step"), ("gradshaf", "gradshaf_step")],
)
def test_planes_halve_the_height(name: str, kernel: str, cap: int, expected: tuple[int, int, int]) -> None:
    grid, threadgroup = threads(dispatches(name, {kernel: cap}, 1), kernel)
    assert threadgroup == expected
    parameters = small(name, 1)[1].parameters
    nx, ny = parameters.get("NX", parameters.get("NR")), parameters.get("NY", parameters.get("NZ"))
    assert nx is not None
    assert ny is not None
    assert grid == (-(-nx // 16) * 16, -(-ny // expected[1]) * expected[1], 1)


@pytest.mark.parametrize(
    ("cap", "expected"), [(1024, (8, 8, 4)), (255, (8, 8, 2)), (64, (8, 8, 1)), (63, (8, 4, 1)), (7, (4, 1, 1))]
)
def test_boxes_halve_z_then_y_then_x(cap: int, expected: tuple[int, int, int]) -> None:
    grid, threadgroup = threads(dispatches("wave3d", {"wave_step": cap}, 1), "wave_step")
    assert threadgroup == expected
    assert grid == tuple(-(-extent // width) * width for extent, width in zip((24, 16, 20), expected, strict=True))


@pytest.mark.parametrize(
    ("name", "kernel", "width", "count"),
    [
        ("saxpy", "saxpy", 256, 1024),
        ("nbody", "nbody_step", 128, 64),
        ("hmc", "hmc_step", 64, 1024),
        ("lj", "lj_clear_cells", 64, 27),
        ("lj", "lj_build_cells", 128, 343),
        ("lj", "lj_step", 128, 343),
        ("morton", "morton_stencil", 256, 512),
    ],
)
@pytest.mark.parametrize("cap", [1024, 100, 32])
def test_lines_take_the_smaller_of_width_and_cap(name: str, kernel: str, width: int, count: int, cap: int) -> None:
    grid, threadgroup = threads(dispatches(name, {kernel: cap}), kernel)
    assert threadgroup == (min(width, cap), 1, 1)
    assert grid == (-(-count // threadgroup[0]) * threadgroup[0], 1, 1)


@pytest.mark.parametrize(("cap", "width"), [(1024, 256), (256, 256), (255, 128), (100, 64), (32, 32)])
def test_the_axis_reduction_is_one_threadgroup_of_a_power_of_two(cap: int, width: int) -> None:
    kernel = "gradshaf_axis_reduce"
    assert threads(dispatches("gradshaf", {kernel: cap}), kernel) == ((width, 1, 1), (width, 1, 1))


def test_fft3d_gives_a_line_to_every_threadgroup() -> None:
    for dispatch in dispatches("fft3d", {}, 1):
        assert (dispatch.grid, dispatch.threadgroup) == ((16, 256, 1), (16, 1, 1))
    assert dispatches("fft3d", {"fft3d_y": 16}, 1)
    with pytest.raises(PlanError, match=r"fft3d_y: N = 16 needs threadgroups of 16 threads.*= 15"):
        dispatches("fft3d", {"fft3d_y": 15}, 1)


def test_adi3d_grids_are_ragged_and_refuse_a_low_cap() -> None:
    grids = [dispatch.grid for dispatch in dispatches("adi3d", {}, 1)[:3]]
    assert grids == [(16, 20, 1), (24, 20, 1), (24, 16, 1)]
    assert {dispatch.threadgroup for dispatch in dispatches("adi3d", {"adi_z": 32})} == {(32, 1, 1)}
    with pytest.raises(PlanError, match="adi_z"):
        dispatches("adi3d", {"adi_z": 31})


def test_ising_dispatches_count_half_sweeps() -> None:
    found = dispatches("ising", {})
    assert [int(str(dispatch.arguments[4])) for dispatch in found] == list(range(20))


@pytest.mark.parametrize(
    ("name", "index", "amount"),
    [
        ("saxpy", 0, 12 * 2**20),
        ("heat2d", 1, 8 * 512**2 * 100),
        ("wave3d", 2, 12 * 192**3 * 15),
        ("nbody", 2, 20 * 2048**2 * 10),
        ("hmc", 0, 16384 * 200 * 11 * (2 * 64 - 8)),
        ("lbm", 2, 72 * 256**2 * 100),
        ("ising", 2, 2 * 2048**2 * 25),
        ("gradshaf", 1, 12 * 257**2 * 40),
        ("fft3d", 2, 96 * 128**3),
        ("morton", 0, 8 * 32**3 * 120),
        ("adi3d", 2, 24 * 128**3 * 10),
    ],
)
def test_demands_follow_the_published_formulas(name: str, index: int, amount: int) -> None:
    task = TASKS[name]
    (demand,) = task.demands(task.configurations("full")[index], {})
    assert demand.amount == amount
    assert demand.resource == ("fp32" if task.unit == "GFLOPS" else "dram")


def test_lj_demands_count_the_pairs_of_the_reference() -> None:
    task = TASKS["lj"]
    (demand,) = task.demands(task.configurations("full")[0], {"pairs": np.array(1000)})
    assert (demand.resource, demand.amount) == ("fp32", 40_000)


@pytest.mark.parametrize("name", TASKS)
def test_briefs_hold_no_number_of_the_held_out_point(name: str) -> None:
    """Sizes and step counts; buffer indices are the interface's own and say nothing."""
    task = TASKS[name]
    text = re.sub(r"\[\[buffer\(\d+\)\]\]", "", task.brief)
    in_the_text = {float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?", text)}
    fixed = {**CONSTANTS[name], "roughness": 0}
    for key, value in task.published_held_out("full").parameters.items():
        if key not in fixed:
            assert float(value) not in in_the_text, (key, value)
