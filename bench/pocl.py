"""PoCL through pyopencl, the peer of the benchmarks: runs a task's own plan with OpenCL kernels.

Installed by ``bench/install_pocl.sh``; nothing else of kfp needs it.
"""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from kfp.plan import Dispatch, Plan, Size3, round_up
from kfp.tasks.base import Array

# What Metal's fast math allows, which is how the seeds are compiled.
OPTIONS = ["-cl-std=CL3.0", "-cl-fast-relaxed-math"]


class Missing(Exception):
    """PoCL or pyopencl is not there: the message says which, and what installs it."""


class Pocl:
    """A queue on PoCL's device for this machine's processor, with so many threads.

    To be made once in a process, and before anything else imports pyopencl: PoCL reads its environment only then.
    Its cache of kernels begins empty and ends with the process.
    """

    def __init__(self, cores: int) -> None:
        cache = tempfile.mkdtemp(prefix="kfp-bench-pocl-")
        atexit.register(shutil.rmtree, cache, ignore_errors=True)
        os.environ.update(
            POCL_MAX_PTHREAD_COUNT=str(cores), POCL_CACHE_DIR=cache, PYOPENCL_NO_CACHE="1"
        )  # fmt: skip
        self.cl, device = _find()
        self.version = f"{device.platform.version}, {device.name}"
        self.context = self.cl.Context([device])
        self.queue = self.cl.CommandQueue(
            self.context, properties=self.cl.command_queue_properties.PROFILING_ENABLE
        )  # fmt: skip

    def build(self, source: str) -> Any:
        return self.cl.Program(self.context, source).build(OPTIONS)

    def prepare(self, program: Any, plan: Plan) -> Execution:
        return Execution(self, program, plan)


def _find() -> tuple[Any, Any]:
    """The module pyopencl and PoCL's device."""
    advice = "bench/install_pocl.sh installs it"
    try:
        import pyopencl
    except ImportError as error:
        raise Missing(f"no pyopencl ({error}); {advice}") from error
    try:
        platforms = pyopencl.get_platforms()
    except pyopencl.Error as error:
        raise Missing(f"no OpenCL platform ({error}); {advice}") from error
    for platform in platforms:
        if platform.name == "Portable Computing Language":
            return pyopencl, platform.get_devices()[0]
    names = ", ".join(platform.name for platform in platforms) or "none"
    raise Missing(f"no PoCL among the OpenCL platforms ({names}); {advice}")


class Execution:
    """A plan with its buffers and kernels on PoCL, ready to be run."""

    def __init__(self, pocl: Pocl, program: Any, plan: Plan) -> None:
        self._cl, self._queue, self._plan = pocl.cl, pocl.queue, plan
        self._context = pocl.context
        flags = self._cl.mem_flags
        self._buffers = {b.name: self._cl.Buffer(pocl.context, flags.READ_WRITE, b.nbytes) for b in plan.buffers}
        self._initial = {
            b.name: self._cl.Buffer(pocl.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=b.initial)
            for b in plan.buffers
            if b.initial is not None
        }
        kernels: dict[Any, Any] = {}
        self._commands = [self._command(program, dispatch, kernels) for dispatch in plan.dispatches]

    def _command(self, program: Any, dispatch: Dispatch, kernels: dict[Any, Any]) -> tuple[Any, Size3, Size3]:
        key = (dispatch.kernel, tuple(dispatch.arguments.items()))
        if key not in kernels:
            kernels[key] = self._kernel(program, dispatch.kernel, dispatch.arguments)
        # PoCL knows no partial work-group; the kernels ask for their bounds, so whole ones do the same work.
        grid = tuple(round_up(n, width) for n, width in zip(dispatch.grid, dispatch.threadgroup, strict=True))
        return kernels[key], (grid[0], grid[1], grid[2]), dispatch.threadgroup

    def _kernel(self, program: Any, name: str, arguments: Mapping[int, Any]) -> Any:
        kernel = self._cl.Kernel(program, name)
        for index, argument in arguments.items():
            if isinstance(argument, str):
                kernel.set_arg(index, self._buffers[argument])
            elif isinstance(argument, np.generic):
                kernel.set_arg(index, argument)
            else:
                kernel.set_arg(index, self._cl.LocalMemory(argument.nbytes))
        return kernel

    def reset(self) -> None:
        for name, initial in self._initial.items():
            self._cl.enqueue_copy(self._queue, self._buffers[name], initial)
        self._queue.finish()

    def run(self) -> None:
        """To its end, as a caller from Python does it."""
        self._enqueue()
        self._queue.finish()

    def sample(self, repeats: int) -> float:
        """Seconds of ``repeats`` runs after a reset, from the start of the first dispatch to the end of the last.

        Everything is queued before the first dispatch may start, so that no enqueuing from Python is in the time.
        """
        self.reset()
        gate = self._cl.UserEvent(self._context)
        first, last = self._enqueue(gate)
        for _ in range(repeats - 1):
            _, last = self._enqueue()
        self._queue.flush()
        gate.set_status(self._cl.command_execution_status.COMPLETE)
        self._queue.finish()
        return 1e-9 * float(last.profile.end - first.profile.start)

    def _enqueue(self, gate: Any = None) -> tuple[Any, Any]:
        """The events of the first and the last dispatch."""
        first = last = None
        for kernel, grid, threadgroup in self._commands:
            wait = [gate] if gate is not None and first is None else None
            last = self._cl.enqueue_nd_range_kernel(self._queue, kernel, grid, threadgroup, wait_for=wait)
            first = first or last
        return first, last

    def outputs(self) -> dict[str, Array]:
        """Under the names that the task's check knows."""
        shapes = {b.name: b for b in self._plan.buffers}
        outputs = {}
        for output, name in self._plan.outputs.items():
            outputs[output] = np.empty(shapes[name].shape, shapes[name].dtype)
            self._cl.enqueue_copy(self._queue, outputs[output], self._buffers[name])
        return outputs


def kernel_source(task: str) -> str:
    """The OpenCL translation of a task's seed."""
    return (Path(__file__).resolve().parent / "opencl" / f"{task}.cl").read_text(encoding="utf-8")


def never_seen(source: str) -> str:
    """A text of its own for every call, in Metal's language or OpenCL C, so that no cache knows it."""
    return f"{source}\nconstant ulong never_seen = {next(_numbers)}ul;\n"


_numbers = itertools.count(time.time_ns())
