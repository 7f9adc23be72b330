"""Several subjects at once: the rate of transfer, the scatter, and a list that leads to each."""

from __future__ import annotations

from collections.abc import Sequence

from kfp.auditing.results import Audit
from kfp.gating.results import Gate
from kfp.reporting.answer import Answer, Fact, of_transfer
from kfp.reporting.blocks import Cell, Section, TableRow, View, figures, filterable, section, table
from kfp.reporting.drawing import Drawing
from kfp.reporting.markup import Html
from kfp.reporting.page import prefix
from kfp.reporting.plots.scatter import Point, scatter
from kfp.reporting.run_view import RunView
from kfp.reporting.subjects import Named, Unreadable
from kfp.reporting.views import gate as gates
from kfp.reporting.views import transfer
from kfp.tables import significant
from kfp.transfer import THRESHOLD, Case, case_of, transfer_report

_TONES = {"transfers": "good", "does not transfer": "bad", "wrong": "bad", "undecided": "doubt", "unreadable": "bad"}


def of(subjects: Sequence[Named], views: Sequence[View]) -> View:
    """``views`` are those of the subjects, in their order."""
    points: list[Point] = []
    cases: list[Case] = []
    targets: list[str] = []
    for number, named in enumerate(subjects, start=1):
        gate, model, audit = _gated(named)
        if gate is None:
            continue
        target = f"{prefix(number)}view"
        found = gates.point(gate, named.name, audit, target)
        if found is not None:
            points.append(found)
        cases.append(case_of(gate, model, named.name, audit))
        targets.append(target)
    report = transfer_report(cases) if cases else None
    drawings: list[Drawing] = []
    sections: list[Section] = [section("All", _list(subjects, views))]
    answer = _ungated(len(subjects))
    hero = None
    if report is not None:
        answer = _with_count(of_transfer(report, len(subjects)), len(subjects), len(cases))
        spread = scatter(points, THRESHOLD) if points else None
        rates = transfer.rates(report)
        hero = spread
        sections.append(
            section("Transfer", figures(rates), transfer.rate_table(report), transfer.cases_table(report, (), targets))
        )
        drawings = [d for d in (spread, rates) if d is not None]
    tasks = len({_task(named) for named in subjects})
    about = f"{len(subjects)} subjects, {tasks} task{'' if tasks == 1 else 's'}"
    return View("overview", about, answer, hero, tuple(sections), tuple(drawings))


def unreadable(name: str, reason: str) -> View:
    facts = (Fact("Why?", reason),)
    return View(
        name, "a run that can't be read", Answer("What can be believed?", "It can't be read.", "bad", facts), None, ()
    )


def _gated(named: Named) -> tuple[Gate | None, str, Audit | None]:
    subject = named.subject
    if isinstance(subject, RunView):
        gate = subject.gate
        return gate, subject.spec.model, subject.audits.get(gate.source_sha256) if gate is not None else None
    return (subject, "", None) if isinstance(subject, Gate) else (None, "", None)


def _task(named: Named) -> str:
    subject = named.subject
    return subject.spec.task if isinstance(subject, RunView) else getattr(subject, "task", "")


def _list(subjects: Sequence[Named], views: Sequence[View]) -> Html:
    rows = []
    for number, (named, view) in enumerate(zip(subjects, views, strict=True), start=1):
        subject = named.subject
        gate, model, _ = _gated(named)
        verdict: str = gate.verdict if gate is not None else "not gated"
        verdict = "unreadable" if isinstance(subject, Unreadable) else verdict
        inside = gate.in_distribution.interval if gate is not None else None
        least = gates.held_out(gate) if gate is not None else None
        tried = f"{len(subject.candidates)}" if isinstance(subject, RunView) else ""
        rows.append(
            TableRow(
                (
                    named.name,
                    _task(named),
                    model or "-",
                    tried,
                    significant(inside.ratio) if inside is not None else "-",
                    significant(least[0]) if least is not None else "-",
                    Cell(verdict, _TONES.get(verdict, "")),
                    view.answer.headline,
                ),
                verdict,
                f"{prefix(number)}view",
            )
        )
    head = ("", "task", "model", "kernels", "searched", "held out, least", "verdict", "what can be believed")
    kinds = list(dict.fromkeys(row.kind for row in rows))
    return filterable(table(head, rows, caption="All of them", numbers=(3, 4, 5)), kinds, "subjects")


def _with_count(answer: Answer, count: int, gated: int) -> Answer:
    if gated == count:
        return answer
    return Answer(
        answer.question,
        answer.headline,
        answer.mood,
        (
            *answer.facts,
            Fact("What is missing?", f"{count - gated} of {count} were not gated, and are in no number here."),
        ),
    )


def _ungated(count: int) -> Answer:
    return Answer(
        f"What can be believed of these {count}?",
        "Each for itself: none was gated, so nothing is known of transfer.",
        "doubt",
        (Fact("What now?", "kfp gate says whether a gain holds where nobody could have tuned for it."),),
    )
