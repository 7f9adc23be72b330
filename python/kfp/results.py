"""What the stages hand back: frozen, printable, and the same again after a trip through JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from kfp.records import Record
from kfp.tasks.base import Origin, Scale
from kfp.timing.statistics import median_interval

Math: TypeAlias = Literal["fast", "precise"]
Verdict: TypeAlias = Literal[
    "right",
    "wrong",
    "compile error",
    "pipeline error",
    "timeout",
    "crash",
    "fault",
    "memory",
    "refused",
    "output",
    "protocol",
]


@dataclass(frozen=True, eq=False)
class Diagnostic(Record):
    """A compiler message at a place in the user's own source; line and column count from 1, 0 is nowhere."""

    severity: Literal["note", "warning", "error"]
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        place = f"program_source:{self.line}:{self.column}: " if self.line else ""
        return f"{place}{self.severity}: {self.message}"


@dataclass(frozen=True, eq=False)
class Device(Record):
    """A device of this machine, or one that this machine or build lacks and why."""

    name: str
    description: str
    driver: str
    available: bool
    reason: str
    is_virtual: bool
    tick_seconds: float
    max_threads_per_threadgroup: int
    thread_execution_width: int
    max_threadgroup_memory_length: int


@dataclass(frozen=True, eq=False)
class Ceiling(Record):
    """The most of one resource that a device gives, per second, and where that figure comes from."""

    resource: Literal["dram", "fp32", "u64_multiply", "u64_bit", "u64_rotate"]
    per_second: float
    source: str


@dataclass(frozen=True, eq=False)
class Ceilings(Record):
    """What a device gives at most; ``dispatch_seconds`` is what one more dispatch of an empty kernel costs.

    ``invalid`` says of every probe whose figure can't be believed why, instead of a limit.
    """

    device: str
    description: str
    driver: str
    limits: tuple[Ceiling, ...]
    dispatch_seconds: float
    invalid: tuple[str, ...] = ()

    def of(self, resource: str) -> Ceiling | None:
        return next((limit for limit in self.limits if limit.resource == resource), None)


@dataclass(frozen=True, eq=False)
class Timing(Record):
    """Seconds of one run of the plan on the device: the median of ``samples``, and the quartiles around it."""

    seconds: float
    lower_quartile: float
    upper_quartile: float
    samples: tuple[float, ...]
    repeats: int
    cache: Literal["warm", "cold"]

    @property
    def interval(self) -> tuple[float, float] | None:
        """Bounds of ``seconds`` at 95 %, as far as one session can tell; None for fewer than six samples."""
        return median_interval(np.array(self.samples), 0.05)


@dataclass(frozen=True, eq=False)
class ConfigurationResult(Record):
    """One configuration: right or wrong, how fast, and how that compares with what the device can do.

    ``error`` and ``tolerance`` are in the units of ``metric``. ``achieved`` and ``ceiling`` are in ``unit``;
    ``fraction`` is their ratio. What was not measured is None.
    """

    label: str
    parameters: Mapping[str, int | float]
    origin: Origin
    seed: int
    correct: bool
    metric: str
    error: float | None
    tolerance: float | None
    detail: str
    timing: Timing | None
    unit: str
    achieved: float | None
    ceiling: float | None
    ceiling_source: str
    fraction: float | None
    flags: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Evaluation(Record):
    """The verdict on one kernel for one task on one device, with everything that it rests on."""

    task: str
    device: Device
    scale: Scale
    seed: int
    math: Math
    checked: bool
    compile_ok: bool
    pipeline_ok: bool
    correct: bool
    verdict: Verdict
    score: float | None
    reason: str
    diagnostics: tuple[Diagnostic, ...]
    configurations: tuple[ConfigurationResult, ...]
    source_sha256: str
    kfp_version: str

    def __str__(self) -> str:
        from kfp.tables import evaluation_text

        return evaluation_text(self)

    def _repr_html_(self) -> str:
        from kfp.html import evaluation_html

        return evaluation_html(self)

    def summary(self) -> str:
        """The verdict in one line."""
        from kfp.tables import evaluation_summary

        return evaluation_summary(self)

    def feedback(self) -> str:
        """The result as text for whoever writes the next kernel. Holds nothing of a held-out configuration."""
        from kfp.feedback import feedback_text

        return feedback_text(self)


@dataclass(frozen=True, eq=False)
class ParameterSignature(Record):
    """One parameter of a kernel as the source declares it."""

    name: str
    type: str
    kind: Literal["buffer", "threadgroup", "input", "texture", "sampler", "other"]
    index: int
    attribute: str


@dataclass(frozen=True, eq=False)
class KernelSignature(Record):
    """A kernel of a compiled source, with its pipeline's limits. ``pipeline_error`` is empty where one can be made."""

    name: str
    parameters: tuple[ParameterSignature, ...]
    max_total_threads_per_threadgroup: int
    thread_execution_width: int
    static_threadgroup_memory_length: int
    pipeline_error: str


@dataclass(frozen=True, eq=False)
class CheckReport(Record):
    """What can be said of a kernel without running it. ``problems`` are departures from the task's interface."""

    device: Device
    task: str | None
    math: Math
    compile_ok: bool
    pipeline_ok: bool
    reason: str
    diagnostics: tuple[Diagnostic, ...]
    kernels: tuple[KernelSignature, ...]
    problems: tuple[str, ...]
    seconds: float
    source_sha256: str
    kfp_version: str

    def __str__(self) -> str:
        from kfp.tables import check_text

        return check_text(self)
