"""Every kernel of a run: the list, and what the page's script shows of the one that is chosen."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from kfp.reporting.blocks import Cell, TableRow, filterable, note, table
from kfp.reporting.kernels import Sources, counts
from kfp.reporting.markup import Html, element, visible
from kfp.reporting.run_view import START, Candidate, RunView
from kfp.reporting.views.audit import marks
from kfp.search.judgement import Judgement
from kfp.tables import significant

DECISIONS: dict[str, str] = {
    "promoted": "good",
    "vetoed": "bad",
    "wrong": "bad",
    "invalid": "bad",
    "no kernel": "bad",
    "undecided": "doubt",
}
_SEVERITIES = {"error": "bad", "warning": "doubt", "note": "dim"}
_HEADINGS = ("kernel", "outcome", "why", "over the incumbent", "over the start", "on a hidden draw", "score", "lines")


class Kernels:
    """The sources of a run on the page, each line once."""

    def __init__(self, run: RunView) -> None:
        self._run = run
        self._sources = Sources()
        # When the page is full, what is missing should be what matters least.
        order = (START, *(c.key for c in reversed(run.promoted)), *(c.key for c in reversed(run.candidates)))
        for key in order:
            if key in run.sources:
                self._sources.add(key, run.sources[key])

    @cached_property
    def _changes(self) -> dict[str, dict[str, list[list[int]]]]:
        pairs = ((c.key, other) for c in self._run.candidates for other in dict.fromkeys((START, c.parent)))
        return self._sources.changes_of(pairs)

    def list(self, prefix: str) -> list[Html]:
        """With the place below where the script shows one of them."""
        run = self._run
        start = TableRow((START, "", "the starting kernel", "", "1", "", "", ""), START, f"{prefix}kernel-{START}")
        rows = [start, *(self._row(candidate, prefix) for candidate in run.candidates)]
        listed = table(_HEADINGS, rows, caption="Every kernel of this run", numbers=(3, 4, 5, 6, 7))
        kinds = list(dict.fromkeys(c.record.decision for c in run.candidates))
        empty = note(
            "Choose a kernel in the list to see its source. (This needs scripts; all sources are files of the run.)"
        )
        viewer = element("div", empty, class_="viewer", data_viewer=prefix, tabindex="-1")
        missing = self._sources.left_out
        full = [note(f"{missing} sources are left out here; they are files of the run.")] if missing else []
        return [filterable(listed, kinds, "kernels"), *full, viewer]

    def _row(self, candidate: Candidate, prefix: str) -> TableRow:
        record = candidate.record
        hidden = record.selection[-1] if record.selection else None
        score = record.evaluation.score if record.evaluation is not None else None
        cells = (
            self._name(candidate),
            Cell(record.decision, DECISIONS.get(record.decision, "")),
            record.reason,
            figures_of(record.gain) if record.gain is not None else "",
            "" if candidate.gain is None else significant(candidate.gain),
            figures_of(hidden) if hidden is not None else "",
            f"{score:.4f}" if score else "",
            counts(self._changes.get(candidate.key, {}).get(START)),
        )
        return TableRow(cells, record.decision, f"{prefix}kernel-{candidate.key}")

    def _name(self, candidate: Candidate) -> str:
        return candidate.key if self._run.spec.candidates > 1 else str(candidate.iteration)

    def data(self) -> dict[str, Any]:
        """For the script, with nothing in it that would not be seen."""
        run, winner = self._run, self._run.winner
        start = {"title": "The starting kernel", "parent": "", "tone": "", "notes": [], "marks": []}
        return {
            **self._sources.to_json(),
            "changes": self._changes,
            "about": {START: start, **{c.key: self._about(c) for c in run.candidates}},
            "first": winner.key if winner is not None else START,
        }

    def _about(self, candidate: Candidate) -> dict[str, Any]:
        record = candidate.record
        diagnostics = record.evaluation.diagnostics if record.evaluation is not None else ()
        audit = self._run.audits.get(record.source_sha256)
        said = [
            {"line": d.line, "tone": _SEVERITIES[d.severity], "text": visible(f"{d.severity}: {d.message}")}
            for d in diagnostics
        ]
        return {
            "title": f"Kernel {self._name(candidate)}: {record.decision}",
            "parent": candidate.parent,
            "tone": DECISIONS.get(record.decision, ""),
            "notes": [visible(record.reason)] if record.reason else [],
            "marks": [*said, *(marks(audit) if audit is not None else ())],
        }


def figures_of(judgement: Judgement) -> str:
    if judgement.ratio is None or judgement.low is None or judgement.high is None:
        return judgement.verdict
    return f"{significant(judgement.ratio)} ({significant(judgement.low)} to {significant(judgement.high)})"
