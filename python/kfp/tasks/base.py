"""What a task declares. Adding one touches a single Python file and a single seed kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
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

    @property
    def declaration(self) -> str:
        if self.access == "constant":
            return f"constant {self.dtype}& {self.name}"
        return f"device {'const ' if self.access == 'read' else ''}{self.dtype}* {self.name}"


@dataclass(frozen=True)
class Kernel:
    """A kernel that a candidate must define: its name, its buffer arguments and its default threadgroup."""

    name: str
    arguments: tuple[Argument, ...]
    threadgroup: tuple[int, int, int]
    # Launches fail when a declared max_total_threads_per_threadgroup is below this (fft3d, adi3d).
    min_threads: int = 1
    # The compute inputs that the contract shows, as MSL; a candidate may take others.
    inputs: tuple[str, ...] = ("uint gid [[thread_position_in_grid]]",)
    # Threads beyond the work must do nothing, so a grid of more threadgroups than the work needs is legal.
    idle_threads: bool = False

    @property
    def signature(self) -> str:
        """The declaration as MSL, one argument a line."""
        lines = [f"{argument.declaration} [[buffer({argument.index})]]" for argument in self.arguments]
        return f"kernel void {self.name}(\n    " + ",\n    ".join([*lines, *self.inputs]) + ");"


@dataclass(frozen=True)
class Range:
    """The values of one parameter that a kernel must handle; every configuration, drawn ones too, lies inside."""

    name: str
    low: float
    high: float
    meaning: str
    # Whole numbers only, and then only multiples of this; 0 for a real number.
    step: int = 1
    powers_of_two: bool = False

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, (int, float)) or not self.low <= value <= self.high:
            return False
        if self.step and value % self.step:
            return False
        return not self.powers_of_two or int(value).bit_count() == 1

    def __str__(self) -> str:
        kinds = {0: "real", 1: "whole", 2: "even"}
        kind = "a power of two" if self.powers_of_two else kinds.get(self.step, f"a multiple of {self.step}")
        low, high = (f"{int(bound)}" if self.step else f"{bound:g}" for bound in (self.low, self.high))
        return f"{self.name}: {self.meaning}; {kind}, {low} to {high}"


@dataclass(frozen=True)
class FreeInput:
    """An input whose elements may have any values of [low, high]; real and imaginary parts each, if complex.

    The inputs in ``also`` hold the same values.
    """

    name: str
    low: float
    high: float
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Demand:
    """How much of one resource a configuration needs at least, for the ceiling that it is scored against.

    ``resource`` names a measured ceiling: ``dram`` (``amount`` in bytes), ``fp32`` (floating-point operations),
    ``u64_multiply`` (64 by 64 bits, all 128 of the product), ``u64_bit``, ``u64_rotate`` (operations on 64 bits).
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
    ranges: ClassVar[tuple[Range, ...]] = ()
    # The contract for whoever writes a kernel: mathematics, layout, valid ranges; no held-out value.
    brief: ClassVar[str]
    # Empty, or why the drawn axis is only a menu, so that a gate on it is weak.
    weak_axis: ClassVar[str] = ""
    # Parameters with a range, each of which may take any value of it whatever the others are.
    free_sizes: ClassVar[tuple[str, ...]] = ()
    # Parameters with a range that can't be moved alone: what is legal of them depends on the others.
    coupled: ClassVar[tuple[str, ...]] = ()
    # Inputs whose data may follow any law, and inputs whose rows may be put into another order together.
    free_inputs: ClassVar[tuple[FreeInput, ...]] = ()
    exchangeable: ClassVar[tuple[str, ...]] = ()
    # Parameters that no kernel sees but in the data, each with some of the values that it may have whatever the others
    # are: those that make the data most unlike the usual ones first.
    data_laws: ClassVar[Mapping[str, tuple[Number, ...]]] = MappingProxyType({})

    @abstractmethod
    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        """The in-distribution configurations: those that a search sees."""

    @abstractmethod
    def published_held_out(self, scale: Scale) -> Configuration:
        """The held-out point of the paper (or its small stand-in)."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        """A configuration from the task's non-enumerable axis, origin ``drawn``, as ``conditioned`` leaves it."""

    def conditioned(self, configuration: Configuration) -> Configuration:
        """The same, or one of fewer steps where these let rounding errors grow beyond what the check allows."""
        return configuration

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

    def allows(self, configuration: Configuration) -> bool:
        """Whether one of the ``coupled`` parameters may have been moved alone to where it is."""
        return False

    def data_key(self, configuration: Configuration) -> Hashable:
        """Inputs and reference are a function of this."""
        return type(self), configuration

    @abstractmethod
    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        """What the whole plan of this configuration needs at least, per resource."""


_BLOCK = 1 << 20


def max_abs_check(output: Array, expected: Array, absolute: float, relative: float) -> Check:
    """max|output - expected| <= absolute + relative * max|expected|, in float64; NaN and infinity fail.

    Works in blocks: the arrays of the largest configurations must not be widened whole.
    """
    metric = "max abs error"
    if output.shape != expected.shape:
        return Check(False, float("inf"), 0.0, metric, f"expected shape {expected.shape}, got {output.shape}")
    wide = np.complex128 if np.iscomplexobj(expected) else np.float64
    flat_output, flat_expected = output.reshape(-1), expected.reshape(-1)
    blocks = [slice(start, start + _BLOCK) for start in range(0, flat_expected.size, _BLOCK)]
    largest = max((float(np.max(np.abs(flat_expected[block]))) for block in blocks), default=0.0)
    tolerance = absolute + relative * largest
    error, count, first = 0.0, 0, -1
    for block in blocks:
        with np.errstate(all="ignore"):
            difference = np.abs(flat_output[block].astype(wide) - flat_expected[block])
        # np.maximum keeps a NaN, also one from an earlier block.
        error = float(np.maximum(error, np.max(difference)))
        wrong = ~(difference <= tolerance)
        if wrong.any():
            count += int(np.count_nonzero(wrong))
            first = block.start + int(np.argmax(wrong)) if first < 0 else first
    if count == 0:
        return Check(error <= tolerance, error, tolerance, metric)
    where = tuple(int(i) for i in np.unravel_index(first, expected.shape))
    detail = (
        f"{count} of {expected.size} elements differ; first at {list(where)}: "
        f"expected {flat_expected[first]:.7g}, got {flat_output[first]:.7g}"
    )
    return Check(False, error if np.isfinite(error) else float("nan"), tolerance, metric, detail)


def faces(array: Array) -> Iterator[tuple[tuple[slice | int, ...], Array]]:
    """The (index, view) of every face of a grid: its edges in two dimensions."""
    for axis in range(array.ndim):
        for end in (0, -1):
            index = tuple(end if other == axis else slice(None) for other in range(array.ndim))
            yield index, array[index]


def copied_faces_check(output: Array, initial: Array) -> Check:
    """Every face cell still holds what it started with, to the bit of its value: the contract copies it through."""
    metric = "max abs error of face cells"
    if output.shape != initial.shape:
        return Check(False, float("inf"), 0.0, metric, f"expected shape {initial.shape}, got {output.shape}")
    for index, start in faces(initial):
        end = output[index]
        wrong = ~(end == start)
        if not wrong.any():
            continue
        inner = [int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape)]
        extents = zip(index, output.shape, strict=True)
        where = [(inner.pop(0) if isinstance(part, slice) else part % extent) for part, extent in extents]
        with np.errstate(all="ignore"):
            error = float(np.max(np.abs(end.astype(np.float64) - start)))
        return Check(
            False, error if np.isfinite(error) else float("nan"), 0.0, metric,
            f"cell {where} lies on a face and must copy through: "
            f"expected {initial[tuple(where)]:.7g}, got {output[tuple(where)]:.7g}",
        )  # fmt: skip
    return Check(True, 0.0, 0.0, metric)


def first_failure(*checks: Check) -> Check:
    """The first check that failed, or the first one."""
    return next((check for check in checks if not check.correct), checks[0])


def contract(text: str, kernels: tuple[Kernel, ...], ranges: tuple[Range, ...]) -> str:
    """The brief of a task: its mathematics in words, the signatures, the values that a kernel must handle."""
    parts = [text.strip()]
    parts.append("Signatures:\n\n" + "\n\n".join(kernel.signature for kernel in kernels))
    if ranges:
        parts.append("Valid values:\n" + "\n".join(f"- {entry}" for entry in ranges))
    return "\n\n".join(parts) + "\n"
