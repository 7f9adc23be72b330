"""What a run keeps of itself: what was asked for, where it ran, and what became of every candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kfp.records import Record
from kfp.results import Device, Evaluation, Math
from kfp.search.judgement import Judgement
from kfp.search.models.base import Usage
from kfp.search.models.prices import Price
from kfp.tasks.base import Scale

# Raised whenever a file of a run changes its meaning; older and newer runs are refused, not half-read.
FORMAT = 1

Strategy: TypeAlias = Literal["evolve", "best-of-n"]
Answer: TypeAlias = Literal["kernel", "no code", "empty", "truncated", "refusal", "no answer"]
Decision: TypeAlias = Literal[
    "promoted", "vetoed", "no gain", "undecided", "slower", "wrong", "invalid", "duplicate", "outrun", "no kernel"
]


@dataclass(frozen=True, eq=False)
class Spec(Record):
    """Everything that makes a run the run that it is. Two runs with the same spec are the same run."""

    task: str
    model: str
    device: str
    scale: Scale
    math: Math
    seed: int
    replicate: int
    strategy: Strategy
    candidates: int
    disclose: bool
    selection_draws: int
    max_tokens: int
    call_seconds: float
    effort: str
    start_sha256: str


@dataclass(frozen=True, eq=False)
class Provenance(Record):
    """Where and with what a run began. ``revision`` is empty where the package is not a git checkout."""

    kfp_version: str
    revision: str
    dirty: bool
    python: str
    platform: str
    packages: tuple[str, ...]
    device: Device
    price: Price | None
    started: str
    command: str


@dataclass(frozen=True, eq=False)
class CandidateRecord(Record):
    """One candidate of an iteration: what answered, what the harness found, what was decided and why.

    ``judgements`` are its comparisons with the incumbent, in order; ``selection`` those on hidden draws.
    """

    number: int
    model: str
    answer: Answer
    source_sha256: str
    evaluation: Evaluation | None
    judgements: tuple[Judgement, ...]
    selection: tuple[Judgement, ...]
    decision: Decision
    reason: str
    usage: Usage
    cost_usd: float
    cost_bound_usd: float
    model_seconds: float
    attempts: int

    @property
    def gain(self) -> Judgement | None:
        """The last comparison with the incumbent over all search configurations."""
        return next((judgement for judgement in reversed(self.judgements) if judgement.complete), None)


@dataclass(frozen=True, eq=False)
class IterationRecord(Record):
    """One iteration, written when it is complete. ``saved_seconds`` is an estimate of what was not measured."""

    number: int
    candidates: tuple[CandidateRecord, ...]
    promoted: int | None
    incumbent_sha256: str
    redactions: tuple[str, ...]
    seconds: float
    harness_seconds: float
    saved_runs: int
    saved_seconds: float


@dataclass(frozen=True, eq=False)
class Finalist(Record):
    """A kernel that the search ends with, measured again against the starting kernel.

    ``search`` is what the search itself had measured on the way, multiplied over promotions; ``claim`` the same
    quantity at claim grade; ``held_out`` the ratio at the published held-out configuration.
    """

    name: str
    iteration: int
    source_sha256: str
    model: str
    search: float | None
    claim: Judgement
    held_out: Judgement


@dataclass(frozen=True, eq=False)
class Finale(Record):
    """What is left when everything is measured again, and the one look at what was held out, after ``iterations``.

    ``look`` counts the looks of this run; a run that is extended after its end has a second one.
    """

    iterations: int
    look: int
    held_out_label: str
    finalists: tuple[Finalist, ...]
    seconds: float

    def of(self, name: str) -> Finalist | None:
        return next((finalist for finalist in self.finalists if finalist.name == name), None)
