"""Between kfp's Python types and those of the native core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kfp import _core
from kfp.errors import PlanError
from kfp.limits import Limits
from kfp.plan import Buffer, Plan, ThreadgroupMemory
from kfp.results import Device, Diagnostic, KernelSignature, ParameterSignature
from kfp.tasks.base import Array


def device(info: _core.DeviceInfo) -> Device:
    return Device(
        info.name,
        info.description,
        info.driver,
        info.available,
        info.reason,
        info.is_virtual,
        info.tick_seconds,
        info.max_threads_per_threadgroup,
        info.thread_execution_width,
        info.max_threadgroup_memory_length,
    )


def limits(values: Limits) -> _core.Limits:
    return _core.Limits(
        compile_seconds=values.compile_seconds,
        run_seconds=values.run_seconds,
        compile_memory_bytes=values.compile_memory_bytes,
        memory_bytes=values.memory_bytes,
        output_bytes=values.output_bytes,
    )


def diagnostics(report: _core.CompileReport) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(d.severity, d.line, d.column, d.message) for d in report.diagnostics)


def kernels(report: _core.CompileReport) -> tuple[KernelSignature, ...]:
    return tuple(
        KernelSignature(
            kernel.name,
            tuple(ParameterSignature(p.name, p.type, p.kind, p.index, p.attribute) for p in kernel.parameters),
            kernel.max_total_threads_per_threadgroup,
            kernel.thread_execution_width,
            kernel.static_threadgroup_memory_length,
            kernel.pipeline_error,
        )
        for kernel in report.kernels
    )


def plan(declared: Plan) -> _core.Plan:
    """Raises ``kfp.PlanError`` that names the faulty element."""
    numbers = {buffer.name: number for number, buffer in enumerate(declared.buffers)}
    if len(numbers) != len(declared.buffers):
        raise PlanError("plan: two buffers have the same name")
    names = list(dict.fromkeys(dispatch.kernel for dispatch in declared.dispatches))
    kernel_numbers = {name: number for number, name in enumerate(names)}
    for output, buffer in declared.outputs.items():
        if buffer not in numbers:
            raise PlanError(f"plan: output {output!r} names the unknown buffer {buffer!r}")
    try:
        return _core.Plan(
            names,
            [(b.name, b.nbytes, b.role, b.initial) for b in declared.buffers],
            [
                (
                    kernel_numbers[dispatch.kernel],
                    [_binding(index, argument, numbers) for index, argument in dispatch.arguments.items()],
                    dispatch.grid,
                    dispatch.threadgroup,
                )
                for dispatch in declared.dispatches
            ],
        )
    except _core.PlanError as error:
        raise PlanError(str(error)) from error


def _binding(index: int, argument: object, buffers: Mapping[str, int]) -> tuple[Any, ...]:
    if isinstance(argument, str):
        if argument not in buffers:
            raise PlanError(f"plan: binding {index} names the unknown buffer {argument!r}")
        return "buffer", index, buffers[argument], 0
    if isinstance(argument, ThreadgroupMemory):
        return "threadgroup", index, argument.nbytes
    if isinstance(argument, np.generic):
        return "bytes", index, argument.tobytes()
    raise PlanError(
        f"plan: binding {index} is a {type(argument).__name__}; expected a buffer's name, a numpy scalar "
        "or ThreadgroupMemory"
    )


def read_outputs(worker: _core.Worker, execution: int, declared: Plan) -> dict[str, Array]:
    """The outputs under the names that the task's check knows."""
    numbers = {buffer.name: number for number, buffer in enumerate(declared.buffers)}
    return {
        output: _shaped(worker.read(execution, numbers[name]), declared.buffers[numbers[name]])
        for output, name in declared.outputs.items()
    }


def _shaped(data: Array, buffer: Buffer) -> Array:
    return data.view(buffer.dtype).reshape(buffer.shape)
