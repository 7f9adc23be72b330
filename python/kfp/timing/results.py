"""What a comparison says: per configuration and over all, with everything that the ratio rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kfp.records import Record
from kfp.results import Device, Diagnostic, Math
from kfp.tasks.base import Origin, Scale
from kfp.timing.statistics import Interval

Grade: TypeAlias = Literal["search", "claim"]
Cache: TypeAlias = Literal["warm", "cold"]

# The first four compare two right kernels. The others say why there is nothing to compare; "reference" is a reference
# that isn't right itself, the ones after it are the candidate's.
ComparisonVerdict: TypeAlias = Literal[
    "win",
    "no change",
    "regression",
    "undecided",
    "reference",
    "unmeasurable",
    "unstable",
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
class ArmTiming(Record):
    """Seconds of one run of the plan on the device: median and quartiles of all samples of one arm."""

    seconds: float
    lower_quartile: float
    upper_quartile: float


@dataclass(frozen=True, eq=False)
class Series(Record):
    """What one process measured. Times are seconds of one run; nothing is trimmed.

    ``reference`` and ``candidate`` are raw, in the order in which they were taken; ``order`` has a letter per sample, A
    the reference. ``sentinels``: fixed work beside every block of four, the witness of the clock's state; ``warm_up``:
    its windows until two agreed. ``drops`` pairs were left out because it was slow beside them. ``same_arm_ratio``: the
    reference against itself, from the same samples. ``repeats`` runs make a sample.
    """

    interval: Interval
    pairs: int
    drops: int
    looks: int
    repeats: int
    reference: tuple[float, ...]
    candidate: tuple[float, ...]
    order: str
    order_seed: int
    sentinels: tuple[float, ...]
    warm_up: tuple[float, ...]
    same_arm_ratio: float
    empty_dispatch_seconds: float
    seconds: float


@dataclass(frozen=True, eq=False)
class ConfigurationComparison(Record):
    """One configuration: how many times faster the candidate is than the reference, and how sure that is.

    ``interval`` is None where nothing was compared, and ``reason`` says why. A win or regression is one by more than
    ``margin``: 1 %, or the A/A floor (the reference against itself) where that is more.
    """

    label: str
    parameters: Mapping[str, int | float]
    origin: Origin
    seed: int
    verdict: ComparisonVerdict
    reason: str
    interval: Interval | None
    margin: float
    aa_floor: float | None
    pairs: int
    drops: int
    reference: ArmTiming | None
    candidate: ArmTiming | None
    processes: tuple[Series, ...]
    flags: tuple[str, ...]

    @property
    def ratio(self) -> float | None:
        return self.interval.ratio if self.interval else None

    @property
    def compared(self) -> bool:
        """Both kernels were right, and there is an interval."""
        return self.interval is not None


@dataclass(frozen=True, eq=False)
class Comparison(Record):
    """Two kernels for one task on one device. ``interval`` is the geometric mean over the configurations."""

    task: str
    device: Device
    scale: Scale
    seed: int
    math: Math
    grade: Grade
    cache: Cache
    verdict: ComparisonVerdict
    reason: str
    interval: Interval | None
    margin: float
    configurations: tuple[ConfigurationComparison, ...]
    diagnostics: tuple[Diagnostic, ...]
    reference_name: str
    reference_sha256: str
    candidate_sha256: str
    kfp_version: str

    @property
    def ratio(self) -> float | None:
        return self.interval.ratio if self.interval else None

    @property
    def compared(self) -> bool:
        """Both kernels were right everywhere."""
        return self.interval is not None

    @property
    def process_count(self) -> int:
        """In how many processes a configuration was measured, at most; 1 where none was."""
        return max((len(row.processes) for row in self.configurations if row.compared), default=1)

    def __str__(self) -> str:
        from kfp.timing.tables import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        from kfp.reporting.notebook import frame

        return frame(self)

    def summary(self) -> str:
        """The verdict in one line."""
        from kfp.timing.tables import comparison_summary

        return comparison_summary(self)
