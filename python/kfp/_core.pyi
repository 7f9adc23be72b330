"""The native core: devices, the worker process, compile reports. Raw; kfp's Python modules wrap it."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__version__: str

class Error(Exception): ...
class PlanError(Error): ...
class PipelineError(Error): ...
class DeviceUnavailable(Error): ...

class WorkerFailure(Error):
    """The worker died, was stopped, or refused. args == (kind, message, kernel, dispatch)."""

    kind: Literal["timeout", "crash", "fault", "memory", "refused", "output", "protocol"]
    message: str
    kernel: str | None
    dispatch: int | None

class Toolchain:
    def __init__(
        self,
        *,
        clang: str,
        clang_is_zig: bool,
        msl_include: str,
        cache: str,
        sandbox: str,
        lld_only: bool = False,
    ) -> None: ...
    clang: str
    clang_is_zig: bool
    msl_include: str
    cache: str
    sandbox: str
    lld_only: bool

class DeviceInfo:
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def driver(self) -> str: ...
    @property
    def available(self) -> bool: ...
    @property
    def reason(self) -> str: ...
    @property
    def is_virtual(self) -> bool: ...
    @property
    def tick_seconds(self) -> float: ...
    @property
    def max_threads_per_threadgroup(self) -> int: ...
    @property
    def thread_execution_width(self) -> int: ...
    @property
    def max_threadgroup_memory_length(self) -> int: ...

def list_devices(toolchain: Toolchain) -> list[DeviceInfo]: ...

class Diagnostic:
    @property
    def severity(self) -> Literal["note", "warning", "error"]: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def message(self) -> str: ...

class Parameter:
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def kind(self) -> Literal["buffer", "threadgroup", "input", "texture", "sampler", "other"]: ...
    @property
    def index(self) -> int: ...
    @property
    def attribute(self) -> str: ...

class KernelInfo:
    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> list[Parameter]: ...
    @property
    def max_total_threads_per_threadgroup(self) -> int: ...
    @property
    def thread_execution_width(self) -> int: ...
    @property
    def static_threadgroup_memory_length(self) -> int: ...
    @property
    def pipeline_error(self) -> str: ...

class CompileReport:
    @property
    def compile_ok(self) -> bool: ...
    @property
    def diagnostics(self) -> list[Diagnostic]: ...
    @property
    def kernels(self) -> list[KernelInfo]: ...
    @property
    def seconds(self) -> float: ...

class Intermediate:
    """What the compiler makes of a source before it optimises, as text, with the way back to the source.

    ``inlined`` is the same as values instead of variables, with every call put in line: one function
    ``__kfp_thread_<i>(launch, x, y, z)`` per kernel of ``report``. Line n of the text that the compiler read, which is
    what places in either refer to, is token ``lines[n - 1]``.
    """

    @property
    def report(self) -> CompileReport: ...
    @property
    def program(self) -> str: ...
    @property
    def inlined(self) -> str: ...
    @property
    def reason(self) -> str:
        """Why either text is empty although the source compiles."""

    @property
    def tokens(self) -> list[tuple[str, int, int, int]]:
        """(text, line, column, origin): where the outermost macro that it came from is used; origin 0: from none."""

    @property
    def origins(self) -> list[tuple[str, int, int, int]]:
        """(macro, line and column in its body, the origin of the use of that macro)."""

    @property
    def lines(self) -> list[int | None]: ...
    @property
    def threadgroup_arrays(self) -> list[tuple[int | None, int]]:
        """(token of the name, bytes)."""

class RunReport:
    @property
    def device_seconds(self) -> float: ...
    @property
    def wall_seconds(self) -> float:
        """What the parent's own clock saw between request and reply: an upper bound that no candidate can touch."""

class SampleReport(RunReport):
    """``device_seconds`` is the sum of the samples."""

    @property
    def warm_up(self) -> npt.NDArray[np.float64]:
        """Medians of the sentinel's windows; empty where the device was still warm."""

class Limits:
    """Per worker. Seconds of wall time, bytes of address space beyond the plan's buffers, numbers of processes."""

    def __init__(
        self,
        *,
        compile_seconds: float = 20.0,
        run_seconds: float = 60.0,
        compile_memory_bytes: int = 2 << 30,
        memory_bytes: int = 4 << 30,
        output_bytes: int = 1 << 20,
    ) -> None: ...
    @property
    def compile_seconds(self) -> float: ...
    @property
    def run_seconds(self) -> float: ...
    @property
    def compile_memory_bytes(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def output_bytes(self) -> int: ...

class Plan:
    """The native twin of kfp.plan.Plan. Raises PlanError naming the faulty element.

    buffers: (name, bytes, role, contents) with contents a C-contiguous array for input and state, None otherwise.
    dispatches: (kernel index, bindings, grid, threadgroup); a binding is
    ("buffer", index, buffer, offset) | ("bytes", index, bytes) | ("threadgroup", index, bytes).
    """

    def __init__(
        self,
        kernels: Sequence[str],
        buffers: Sequence[tuple[str, int, str, npt.NDArray[Any] | None]],
        dispatches: Sequence[tuple[int, Sequence[tuple[Any, ...]], tuple[int, int, int], tuple[int, int, int]]],
    ) -> None: ...

class Worker:
    """A separate process that compiles and runs candidates on one device. Every call has a deadline and raises
    WorkerFailure when the process dies, hangs or answers nonsense; after that the worker is closed.
    """

    def __init__(self, device: str, toolchain: Toolchain, limits: Limits) -> None: ...
    @property
    def pid(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    def compile(
        self,
        source: str,
        *,
        math: Literal["fast", "precise"] = "fast",
        checked: bool = False,
        check_only: bool = False,
        counting: str = "",
        counters: int = 0,
    ) -> tuple[int, CompileReport]:
        """(library number, report). Not possible any more after the first prepare, which seals the process.

        ``counting`` is ``Intermediate.program`` of the same source and options with code put in that adds to
        ``counters`` numbers of 64 bits; the library is made of that.
        """

    def intermediate(
        self, source: str, *, math: Literal["fast", "precise"] = "fast", checked: bool = True
    ) -> Intermediate:
        """As ``compile``, but makes no library. Raises DeviceUnavailable on a device without a compiler of ours."""

    def take_counts(self, library: int) -> npt.NDArray[np.uint64]:
        """What a counting library has counted since it was asked last."""

    def prepare(
        self,
        library: int,
        plan: Plan,
        *,
        checked: bool = False,
        order_seed: int = 0,
        threads: int = 0,
        cold: bool = False,
        shares: int | None = None,
    ) -> int:
        """Makes pipelines and buffers; returns an execution number. Raises PlanError, PipelineError.

        `cold`: a reset leaves nothing of the buffers in any cache. `shares` is an execution whose buffers, with their
        initial contents, this one takes; those of its own plan must have the same sizes and roles.
        """

    def run(self, execution: int, *, reset: bool = True) -> RunReport: ...
    def sample(
        self,
        executions: Sequence[int],
        order: Sequence[int] | npt.NDArray[np.integer[Any]],
        repeats: int | Sequence[int],
        *,
        each_from_reset: bool = False,
        sentinel: int | None = None,
        samples_per_window: int = 5,
        agreement: float = 0.01,
        most_seconds: float = 2.0,
        idle_seconds: float = 0.1,
    ) -> tuple[npt.NDArray[np.float64], SampleReport]:
        """Device seconds of one sample per entry of `order` (an index into `executions`), each a reset followed by
        `repeats` (one number, or one per execution) back-to-back runs of the plan in one command buffer. With
        `each_from_reset` a sample is the sum of as many single runs, each after a reset of its own.

        `sentinel`, an index into `executions`: a device that has rested for `idle_seconds` is first warmed up with it,
        until the medians of two windows agree, for `most_seconds` at most.
        """

    def read(self, execution: int, buffer: int) -> npt.NDArray[np.uint8]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Worker: ...
    def __exit__(self, *exc: object) -> None: ...
