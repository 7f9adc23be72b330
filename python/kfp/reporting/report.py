"""``kfp.report``: results in, a page out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kfp import _core
from kfp.auditing.results import Audit
from kfp.errors import UsageError
from kfp.gating.results import Gate
from kfp.records import Record
from kfp.reporting.answer import Answer
from kfp.reporting.blocks import View
from kfp.reporting.drawing import Drawing
from kfp.reporting.page import page, prefix
from kfp.reporting.run_view import RunView
from kfp.reporting.subjects import Named, Table, Unreadable, Wanted, gather, study_noise
from kfp.reporting.views import audit, comparison, evaluation, gate, overview, run, transfer
from kfp.results import Evaluation
from kfp.runs.files import write
from kfp.timing.results import Comparison
from kfp.transfer import transfer_report


@dataclass(frozen=True, eq=False)
class Report(Record):
    """``page``: the file that was written, "" for none; ``figures``: a paper's; ``answer``: the first screen."""

    page: str
    figures: tuple[str, ...]
    answer: Answer

    def __str__(self) -> str:
        return str(self.answer)


def report(
    *subjects: Wanted,
    out: str | os.PathLike[str] | None = "report.html",
    title: str = "",
    pdf: str | os.PathLike[str] | None = None,
    png: str | os.PathLike[str] | None = None,
) -> Report:
    """Writes one page that needs nothing but itself, and says what is on its first screen.

    ``subjects``: folders of runs (or one with runs in it), of gates; records as JSON; tables of gains as CSV, or
    "study" for the published one; or such results themselves. ``pdf`` and ``png`` name folders for the figures of a
    paper, which need ``kfp[figures]``. Raises ``kfp.UsageError`` for what is nothing to report on, and ``kfp.Error``
    for files that are damaged or can't be written.
    """
    found = gather(subjects)
    views = _views(found)
    if out is not None:
        write(Path(out), page(title or _title(found), views, _core.__version__))
    figures: list[str] = []
    for folder, kind in ((pdf, "pdf"), (png, "png")):
        if folder is not None:
            from kfp.reporting.figures import write_figures

            figures += write_figures(_drawings(views), Path(folder), kind)
    return Report(os.fspath(out) if out is not None else "", tuple(figures), views[0].answer)


def page_of(*subjects: Wanted, title: str = "") -> str:
    """The page itself, as ``report`` writes it."""
    found = gather(subjects)
    return page(title or _title(found), _views(found), _core.__version__)


def _title(found: Sequence[Named]) -> str:
    return found[0].name if len(found) == 1 else f"{len(found)} subjects"


def _views(found: Sequence[Named]) -> list[View]:
    if len(found) == 1:
        return [_view(found[0], 0)]
    views = [_view(named, number) for number, named in enumerate(found, start=1)]
    return [overview.of(found, views), *views]


def _view(named: Named, number: int) -> View:
    subject = named.subject
    if isinstance(subject, RunView):
        return run.of(subject, named.name, prefix(number))
    if isinstance(subject, Evaluation):
        return evaluation.of(subject, named.name)
    if isinstance(subject, Comparison):
        return comparison.of(subject, named.name)
    if isinstance(subject, Gate):
        return gate.of(subject, named.name)
    if isinstance(subject, Audit):
        return audit.of(subject, named.name)
    if isinstance(subject, Table):
        found = transfer.of_table(transfer_report(subject.cases), named.name, subject.grades)
        return transfer.with_noise(found, study_noise()) if named.name == "the published study" else found
    if isinstance(subject, Unreadable):
        return overview.unreadable(named.name, subject.reason)
    raise UsageError(f"report: expected a result, got {type(subject).__name__}")


def _drawings(views: Sequence[View]) -> list[Drawing]:
    """Of the first view alone: that of all, where there are several."""
    return list(views[0].drawings)
