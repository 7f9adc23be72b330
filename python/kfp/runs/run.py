"""A run as Python sees it: its records, read from the folder when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kfp.runs.folder import RunReader
from kfp.runs.records import Finale, IterationRecord, Provenance, Spec
from kfp.search.models.base import Usage

if TYPE_CHECKING:
    from kfp.gating.results import Gate


@dataclass(frozen=True)
class Totals:
    """Sums over the iterations of a run."""

    iterations: int
    promotions: int
    usage: Usage
    cost_usd: float
    cost_bound_usd: float
    seconds: float
    harness_seconds: float
    saved_runs: int
    saved_seconds: float


def totals_of(records: Iterable[IterationRecord]) -> Totals:
    usage, counts = Usage(), [0, 0, 0]
    cost = bound = seconds = harness = saved = 0.0
    for record in records:
        counts[0] += 1
        counts[1] += record.promoted is not None
        counts[2] += record.saved_runs
        saved += record.saved_seconds
        seconds += record.seconds
        harness += record.harness_seconds
        for candidate in record.candidates:
            usage += candidate.usage
            cost += candidate.cost_usd
            bound += candidate.cost_bound_usd
    return Totals(counts[0], counts[1], usage, cost, bound, seconds, harness, counts[2], saved)


class Run:
    """A run on disk. ``iterations`` reads one record at a time; ``ended`` is empty, or why it is not complete.

    ``name``: what tells it from others in a table, by default that of its folder.
    """

    def __init__(self, folder: Path, wanted: int | None = None, ended: str = "", name: str = "") -> None:
        self.folder = Path(folder)
        self.name = name or self.folder.name
        self.wanted = wanted
        self.ended = ended
        self._reader = RunReader(self.folder)

    @property
    def spec(self) -> Spec:
        return self._reader.spec

    @property
    def provenance(self) -> Provenance:
        return self._reader.provenance

    @property
    def iterations(self) -> Iterator[IterationRecord]:
        return self._reader.iterations()

    @property
    def finale(self) -> Finale | None:
        return self._reader.finale()

    @property
    def gate(self) -> Gate | None:
        """Whether the gain of the incumbent transfers; None for a run that was not gated."""
        from kfp.gating.runs import gate_of

        return gate_of(self.folder)

    @property
    def reader(self) -> RunReader:
        return self._reader

    @property
    def incumbent(self) -> str:
        """The source of the kernel that the search holds best; the starting kernel where nothing was promoted."""
        source = self._reader.start
        for record in self.iterations:
            if record.promoted is not None:
                source = self._reader.candidate(record.number, record.promoted) or source
        return source

    @cached_property
    def totals(self) -> Totals:
        return totals_of(self.iterations)

    def frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """A row per candidate as a data frame; needs ``kfp[frames]``."""
        from kfp.runs.export import frame

        return frame(self, library)

    def to_json(self) -> dict[str, Any]:
        """Everything but prompts, answers and sources, which are files of their own."""
        finale = self.finale
        return {
            "folder": str(self.folder),
            "ended": self.ended,
            "spec": self.spec.to_json(),
            "provenance": self.provenance.to_json(),
            "iterations": [record.to_json() for record in self.iterations],
            "finale": finale.to_json() if finale is not None else None,
        }

    def __str__(self) -> str:
        from kfp.search.story import run_text

        return run_text(self)

    def _repr_html_(self) -> str:
        from kfp.reporting.notebook import frame

        return frame(self)

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"
