from __future__ import annotations

from dataclasses import replace

import pytest
from kfp.interface import problems
from kfp.results import KernelSignature, ParameterSignature
from kfp.tasks import get_task

TASK = get_task("saxpy")
FITTING = KernelSignature(
    "saxpy",
    tuple(
        ParameterSignature(argument.name, argument.declaration, "buffer", argument.index, "")
        for argument in TASK.kernels[0].arguments
    ),
    1024,
    32,
    0,
    "",
)


def test_a_kernel_with_the_interface_of_the_task_fits() -> None:
    assert problems(TASK, (FITTING,)) == ()


def test_helper_kernels_and_left_out_arguments_are_fine() -> None:
    helper = replace(FITTING, name="helper", pipeline_error="too much threadgroup memory")
    assert problems(TASK, (helper, replace(FITTING, parameters=FITTING.parameters[:2]))) == ()


def test_a_missing_kernel_is_named_with_what_there_is() -> None:
    assert problems(TASK, ()) == ("expected a kernel 'saxpy'; the source defines no kernel",)
    (problem,) = problems(TASK, (replace(FITTING, name="saxpy2"),))
    assert problem == "expected a kernel 'saxpy'; the source defines 'saxpy2' (is it 'saxpy2'?)"


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (ParameterSignature("z", "device float*", "buffer", 9, ""), r"at buffer\(9\), where the task binds nothing"),
        (ParameterSignature("t", "threadgroup float*", "threadgroup", 0, ""), "whose length the task never sets"),
        (ParameterSignature("t", "texture2d<float>", "texture", 0, ""), "the task binds buffers only"),
    ],
)
def test_arguments_that_nobody_binds(parameter: ParameterSignature, message: str) -> None:
    (problem,) = problems(TASK, (replace(FITTING, parameters=(*FITTING.parameters, parameter)),))
    assert problem.startswith("saxpy: parameter")
    assert message.replace("\\", "") in problem


def test_a_kernel_without_a_pipeline() -> None:
    assert problems(TASK, (replace(FITTING, pipeline_error="why not"),)) == ("saxpy: why not",)


def test_a_cap_below_what_the_geometry_needs() -> None:
    task = get_task("adi3d")
    kernels = tuple(replace(FITTING, name=kernel.name, parameters=()) for kernel in task.kernels)
    low = (replace(kernels[0], max_total_threads_per_threadgroup=16), *kernels[1:])
    assert problems(task, kernels) == ()
    (problem,) = problems(task, low)
    assert problem == "adi_x: a threadgroup needs at least 32 threads, the kernel allows 16"
