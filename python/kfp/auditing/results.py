"""What an audit says: mode, grade, the rule that fired, and every piece of evidence with its data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kfp.gating.variations import Law
from kfp.records import Record
from kfp.results import Device, Math
from kfp.tasks.base import Origin, Scale
from kfp.timing.results import ComparisonVerdict
from kfp.timing.statistics import Interval

# A: an arm chosen by the identity of a configuration is tuned. B: what the search never executes is wrong. C: a
# configuration that should have been secret is enumerated. D: the algorithm rides on the statistics of the data, on
# the geometry or on a light context, without any test of identity.
Mode: TypeAlias = Literal["A", "B", "C", "D", "none"]
AuditGrade: TypeAlias = Literal["gamed", "overfit", "benign", "incorrect", "undecided", "unresolved"]

EvidenceKind: TypeAlias = Literal[
    "E0", "E1", "E2", "E2 coverage", "E3a", "E3b", "E3c", "E3d", "E3e", "E3f", "E3g", "E3h", "E4", "inputs"
]
Status: TypeAlias = Literal["run", "not run", "not possible here"]

# What an item of evidence says to the decision, which reads nothing else.
Word: TypeAlias = Literal[
    "floor",
    "wrong in distribution",
    "gain",
    "no gain",
    "gain open",
    "wrong at published",
    "kept at published",
    "lost at published",
    "published open",
    "wrong off menu",
    "kept off menu",
    "lost off menu",
    "off menu open",
    "no added arm",
    "identity arm",
    "leaked arm",
    "unsearched arm",
    "other scale's arm",
    "measured extent",
    "step",
    "smooth",
    "size class",
    "wrong beside",
    "published island",
    "fallback loss",
    "no fallback loss",
    "dead parameter",
    "wrong on other data",
    "wrong under another law",
    "data collapse",
    "data holds",
    "context collapse",
    "context holds",
    "wrong in other geometry",
    "geometry collapse",
    "geometry holds",
    "gone when redacted",
    "stays when redacted",
    "saturated",
    "cause open",
]


ProbeVerdict: TypeAlias = Literal[ComparisonVerdict, "right"]


@dataclass(frozen=True, eq=False)
class Location(Record):
    """A place in the user's own source; both count from 1, 0 is nowhere."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}" if self.line else "no known place"


@dataclass(frozen=True, eq=False)
class Arm(Record):
    """One side of a condition: which configurations take it.

    ``location`` is where the condition stands, ``first_line`` where its arm begins. ``condition`` is its text for a
    reader. ``parameters`` are the names that it depends on; ``in_seed``: the seed has an equal condition. By the label
    of a configuration ``accepts`` says what evaluating the condition gives (None: it can't be said without running),
    and ``counts`` how often a run took the arm (None where nothing was counted).
    """

    id: str
    kernel: str
    location: Location | None
    first_line: Location | None
    condition: str
    side: str
    parameters: tuple[str, ...]
    in_seed: bool
    accepts: Mapping[str, bool | None]
    counts: Mapping[str, int] | None


@dataclass(frozen=True, eq=False)
class Liveness(Record):
    """Whether a parameter of a kernel can reach its output, in the seed and in the candidate."""

    kernel: str
    parameter: str
    in_seed: bool
    in_candidate: bool
    location: Location | None


@dataclass(frozen=True, eq=False)
class Extent(Record):
    """A table whose number of elements is what a parameter is at most where the search measured."""

    location: Location | None
    elements: int
    parameter: str
    measured_maximum: int


@dataclass(frozen=True, eq=False)
class Attribute(Record):
    """An attribute that steers the launch."""

    location: Location | None
    text: str


@dataclass(frozen=True, eq=False)
class StaticEvidence(Record):
    """What the program says without being run. ``unknown``: what could not be followed, and why."""

    arms: tuple[Arm, ...]
    liveness: tuple[Liveness, ...]
    extents: tuple[Extent, ...]
    attributes: tuple[Attribute, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Coverage(Record):
    """Which arms ran where. ``reason``: empty, or why nothing was counted."""

    arms: tuple[Arm, ...]
    kernels: tuple[str, ...]
    reason: str


@dataclass(frozen=True, eq=False)
class Probe(Record):
    """One configuration that was run for a piece of evidence.

    ``axis``: what was moved away from a measured point, and ``beside`` that point's label; empty for a configuration
    in its own right. ``interval``: how many times as fast as the reference, None where it wasn't timed. ``seconds`` and
    ``reference_seconds`` are medians of one run, ``work`` what the configuration needs at least (bytes or operations).
    """

    label: str
    parameters: Mapping[str, int | float]
    origin: Origin
    seed: int
    law: Law
    axis: str
    beside: str
    verdict: ProbeVerdict
    detail: str
    interval: Interval | None
    seconds: float | None
    reference_seconds: float | None
    work: float | None


@dataclass(frozen=True, eq=False)
class InputUse(Record):
    """How the outputs depend on one argument of a kernel that the contract declares.

    ``reaches``: whether the program lets it reach an output (None: not looked at). ``matters`` and
    ``matters_in_reference``: whether changing it, and nothing else, changed the outputs of the candidate and of the
    seed; None where that could not be run.
    """

    kernel: str
    argument: str
    reaches: bool | None
    matters: bool | None
    matters_in_reference: bool | None
    detail: str

    @property
    def ignored(self) -> bool:
        """The seed's outputs change with it, the candidate's don't."""
        return bool(self.matters_in_reference) and self.matters is False


@dataclass(frozen=True, eq=False)
class EvidenceItem(Record):
    """One kind of evidence: what was found, in a line, and ``supports``, what that says to the decision."""

    kind: EvidenceKind
    status: Status
    finding: str
    supports: tuple[Word, ...]
    probes: tuple[Probe, ...]
    seconds: float


@dataclass(frozen=True, eq=False)
class Audit(Record):
    """The mechanism behind what a kernel gains and loses, and everything that this rests on.

    ``rule``: number of the rule that fired; ``fired``: the kinds of evidence that it read. ``reference_name``: what the
    kernel is measured against. ``audit_seed`` (hexadecimal) gives all draws together with the source.
    """

    task: str
    device: Device
    scale: Scale
    math: Math
    threshold: float
    mode: Mode
    grade: AuditGrade
    rule: int
    reason: str
    fired: tuple[EvidenceKind, ...]
    evidence: tuple[EvidenceItem, ...]
    static: StaticEvidence | None
    coverage: Coverage | None
    uses: tuple[InputUse, ...]
    flags: tuple[str, ...]
    reference_name: str
    audit_seed: str
    source_sha256: str
    budget: float
    seconds: float
    kfp_version: str

    @property
    def verdict(self) -> str:
        """Grade and mode in words."""
        return self.grade if self.mode == "none" else f"{self.grade}, mode {self.mode}"

    def item(self, kind: EvidenceKind) -> EvidenceItem:
        """Raises ``KeyError`` for a kind that an audit does not have."""
        for item in self.evidence:
            if item.kind == kind:
                return item
        raise KeyError(kind)

    def __str__(self) -> str:
        from kfp.auditing.tables import audit_text

        return audit_text(self)

    def _repr_html_(self) -> str:
        from kfp.reporting.notebook import frame

        return frame(self)

    def summary(self) -> str:
        """Grade and mode in one line."""
        from kfp.auditing.tables import audit_summary

        return audit_summary(self)
