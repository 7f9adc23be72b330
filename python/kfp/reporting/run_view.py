"""A run as a report sees it: read once, with every gate and audit that its folder holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kfp.auditing.folder import audits_of
from kfp.auditing.results import Audit
from kfp.errors import LedgerError
from kfp.gating.folder import GateFolder
from kfp.gating.looks import GATES
from kfp.gating.results import Gate
from kfp.gating.runs import LEDGER, gate_of
from kfp.ledger.entries import Entry
from kfp.ledger.ledger import Ledger
from kfp.results import Evaluation
from kfp.runs.records import CandidateRecord, Finale, Finalist, IterationRecord, Provenance, Spec
from kfp.runs.run import Run, Totals, totals_of


@dataclass(frozen=True)
class Candidate:
    """``gain``: over the starting kernel, by the search's own comparisons, multiplied over promotions.

    ``parent``: the key of the kernel that was the incumbent when this one was asked for.
    """

    iteration: int
    record: CandidateRecord
    gain: float | None
    parent: str

    @property
    def key(self) -> str:
        return f"{self.iteration}.{self.record.number}"


START = "start"


@dataclass(frozen=True)
class RunView:
    """Everything of a run but the texts of prompts and answers. ``ledger_fault`` is empty, or what is wrong with it."""

    name: str
    spec: Spec
    provenance: Provenance
    records: tuple[IterationRecord, ...]
    totals: Totals
    start: str
    start_evaluation: Evaluation | None
    finale: Finale | None
    gate: Gate | None
    gates: Mapping[str, Gate]
    audits: Mapping[str, Audit]
    ledger: tuple[Entry, ...]
    ledger_fault: str
    sources: Mapping[str, str]

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        return tuple(self._candidates())

    def _candidates(self) -> Iterator[Candidate]:
        best: float | None = 1.0
        parent = START
        for record in self.records:
            promoted = None
            for found in record.candidates:
                ratio = found.gain.ratio if found.gain is not None else None
                gain = best * ratio if best is not None and ratio is not None else None
                one = Candidate(record.number, found, gain, START if self.spec.strategy == "best-of-n" else parent)
                if found.number == record.promoted:
                    promoted = one
                yield one
            if promoted is not None:
                best, parent = promoted.gain, promoted.key

    @cached_property
    def promoted(self) -> tuple[Candidate, ...]:
        return tuple(c for c in self.candidates if c.record.decision == "promoted")

    @property
    def winner(self) -> Candidate | None:
        """The incumbent at the end; None where nothing was promoted."""
        return self.promoted[-1] if self.promoted else None

    @property
    def winners_gate(self) -> Gate | None:
        """A run that went on after its gate ends with another kernel than the gated one."""
        winner = self.winner
        return self.gates.get(winner.record.source_sha256) if winner is not None else None

    def finalist(self, name: str = "incumbent") -> Finalist | None:
        return self.finale.of(name) if self.finale is not None else None

    def key_of(self, sha256: str) -> str:
        return next((c.key for c in self.candidates if c.record.source_sha256 == sha256), "")


def view(run: Run, name: str = "") -> RunView:
    """``name``: instead of the folder's. Raises ``kfp.RunError`` for files that are not those of a run."""
    folder, reader = run.folder, run.reader
    records = tuple(reader.iterations())
    sources = {}
    for record in records:
        for candidate in record.candidates:
            text = reader.candidate(record.number, candidate.number)
            if text is not None:
                sources[f"{record.number}.{candidate.number}"] = text
    entries, fault = _ledger(folder)
    gate = gate_of(folder)
    return RunView(
        name=name or folder.resolve().name,
        spec=run.spec,
        provenance=run.provenance,
        records=records,
        totals=totals_of(records),
        start=reader.start,
        start_evaluation=reader.start_evaluation(),
        finale=run.finale,
        gate=gate,
        gates=_gates(folder, gate),
        audits=audits_of(folder),
        ledger=entries,
        ledger_fault=fault,
        sources={START: reader.start, **sources},
    )


def _gates(folder: Path, gate: Gate | None) -> dict[str, Gate]:
    """By the hash of the source: those that dated the onset, and that of the incumbent."""
    found = [*(GateFolder(path).result() for path in sorted((folder / GATES).glob("*/"))), gate]
    return {gate.source_sha256: gate for gate in found if gate is not None}


def _ledger(folder: Path) -> tuple[tuple[Entry, ...], str]:
    if not (folder / LEDGER).is_file():
        return (), ""
    try:
        return tuple(Ledger(folder / LEDGER).entries()), ""
    except LedgerError as error:
        return (), str(error)
