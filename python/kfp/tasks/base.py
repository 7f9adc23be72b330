"""What a task declares. Adding one touches a single Python file and a single seed kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from kfp.plan import Plan

Array: TypeAlias = npt.NDArray[Any]
Arrays: TypeAlias = Mapping[str, Array]
Number: TypeAlias = int | float
Scale: TypeAlias = Literal["small", "full"]
Origin: TypeAlias = Literal["in_distribution", "published_held_out", "drawn"]
Access: TypeAlias = Literal["read", "write", "read_write", "constant"]


@dataclass(frozen=True)
class Configuration:
    """One point of a task's contract: every number that a kernel receives or that shapes its inputs.

    ``seed`` feeds the random inputs. Configurations compare and hash by value and round-trip through JSON.
    """

    label: str
    parameters: Mapping[str, Number]
    origin: Origin = "in_distribution"
    scale: Scale = "full"
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    def __hash__(self) -> int:
        return hash((self.label, tuple(self.parameters.items()), self.origin, self.scale, self.seed))

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def integer(self, name: str) -> int:
        """The parameter ``name``, which must be whole."""
        value = self.parameters[name]
        if value != int(value):
            raise ValueError(f"configuration {self.label!r}: expected a whole {name}, got {value!r}")
        return int(value)

    def real(self, name: str) -> float:
        return float(self.parameters[name])

    def to_json(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "parameters": dict(self.parameters),
            "origin": self.origin,
            "scale": self.scale,
            "seed": self.seed,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Configuration:
        return cls(data["label"], data["parameters"], data["origin"], data["scale"], data["seed"])


@dataclass(frozen=True)
class Argument:
    """One buffer argument of a kernel as the contract has it. ``dtype`` is the MSL type of an element."""

    index: int
    name: str
    dtype: str
    access: Access


@dataclass(frozen=True)
class Kernel:
    """A kernel that a candidate must define: its name, its buffer arguments and its default threadgroup."""

    name: str
    arguments: tuple[Argument, ...]
    threadgroup: tuple[int, int, int]
    # Launches fail when a declared max_total_threads_per_threadgroup is below this (fft3d, adi3d).
    min_threads: int = 1


@dataclass(frozen=True)
class Demand:
    """How much of one resource a configuration needs at least, for the ceiling that it is scored against.

    ``resource`` names a measured ceiling: ``dram`` (``amount`` in bytes), ``fp32`` (floating-point operations),
    ``u64_multiply``, ``u64_bit``, ``u64_rotate`` (operations).
    """

    resource: Literal["dram", "fp32", "u64_multiply", "u64_bit", "u64_rotate"]
    amount: float


@dataclass(frozen=True)
class Check:
    """The outcome of comparing outputs with the reference.

    ``error`` and ``tolerance`` are in the units of ``metric``; a check is correct only if ``error <= tolerance``
    held, so a NaN fails. ``detail`` says in words where the first or worst difference is.
    """

    correct: bool
    error: float
    tolerance: float
    metric: str
    detail: str = ""


class Task(ABC):
    """A computation with a fixed kernel interface, its configurations, its reference and its check."""

    name: ClassVar[str]
    suite: ClassVar[str]
    title: ClassVar[str]
    regime: ClassVar[str]
    unit: ClassVar[Literal["GB/s", "GFLOPS", "Gop/s"]]
    kernels: ClassVar[tuple[Kernel, ...]]
    # The contract for whoever writes a kernel: mathematics, layout, valid ranges; no held-out value.
    brief: ClassVar[str]
    # Empty, or why the drawn axis is only a menu, so that a gate on it is weak.
    weak_axis: ClassVar[str] = ""

    @abstractmethod
    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        """The in-distribution configurations: those that a search sees."""

    @abstractmethod
    def published_held_out(self, scale: Scale) -> Configuration:
        """The held-out point of the paper (or its small stand-in)."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        """A configuration from the task's non-enumerable axis, origin ``drawn``."""

    @abstractmethod
    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        """Named input arrays, a function of the configuration (its seed included) alone."""

    @abstractmethod
    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        """Buffers and dispatches; ``caps`` has max_total_threads_per_threadgroup of every kernel.

        Raises ``kfp.PlanError`` when a cap is below what the contract's geometry needs.
        """

    @abstractmethod
    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        """What the outputs should be, plus whatever else ``check`` and ``demands`` need, by name."""

    @abstractmethod
    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        """Compares the ``outputs`` of the plan with ``expected`` (what ``reference`` returned)."""

    @abstractmethod
    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        """What the whole plan of this configuration needs at least, per resource."""


def max_abs_check(output: Array, expected: Array, absolute: float, relative: float) -> Check:
    """max|output - expected| <= absolute + relative * max|expected|, in float64; NaN and infinity fail."""
    if output.shape != expected.shape:
        return Check(False, float("inf"), 0.0, "max abs error", f"expected shape {expected.shape}, got {output.shape}")
    wide = np.asarray(expected, dtype=np.complex128 if np.iscomplexobj(expected) else np.float64)
    with np.errstate(all="ignore"):
        difference = np.abs(output - wide)
    tolerance = absolute + relative * float(np.max(np.abs(wide), initial=0.0))
    finite = np.isfinite(difference)
    wrong = ~(difference <= tolerance)
    error = float(np.max(difference, initial=0.0)) if bool(finite.all()) else float("nan")
    if not wrong.any():
        return Check(True, error, tolerance, "max abs error")
    where = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    detail = (
        f"{int(wrong.sum())} of {wrong.size} elements differ; first at {list(where)}: "
        f"expected {wide[where]:.7g}, got {output[where]:.7g}"
    )
    return Check(False, error, tolerance, "max abs error", detail)
