"""Many kernels at once: how many gains transfer, and which don't; over runs, or over a published table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kfp.reporting.answer import of_transfer, share
from kfp.reporting.blocks import Cell, Section, TableRow, View, figures, filterable, note, section, table
from kfp.reporting.drawing import Band, Drawing, Mark, Stroke, Text, Tone
from kfp.reporting.markup import Html
from kfp.reporting.plots.forest import LEFT, RIGHT, ROW, WIDTH
from kfp.reporting.plots.scatter import Point, Standing, scatter
from kfp.reporting.plots.strips import Strip, strips
from kfp.tables import clip, duration
from kfp.transfer import THRESHOLD, Case, Rate, TransferReport

# Grades as the published study gives them.
GRADES: Mapping[str, Standing] = {
    "transfers": "transfers",
    "A": "gamed",
    "B": "wrong",
    "C": "leak",
    "D": "overfit",
    "benign": "benign",
}
_OUTCOMES: Mapping[str, Standing] = {
    "transfers": "transfers",
    "does not transfer": "does not transfer",
    "wrong": "wrong",
    "open": "open",
}
_TONES: Mapping[str, str] = {"transfers": "good", "does not transfer": "bad", "wrong": "bad", "open": "doubt"}


def point(case: Case, grade: str = "") -> Point:
    standing = GRADES.get(grade) or _OUTCOMES[case.outcome]
    if not case.win:
        standing = "no gain"
    name = f"{case.task} by {case.model}" if case.model else case.task
    return Point(name, standing, case.in_distribution, None if case.outcome == "wrong" else case.held_out)


def rates(report: TransferReport) -> Drawing:
    """Shares that don't transfer, from 0 to 100 %, with both intervals."""
    rows: list[tuple[str, Rate]] = [("all", report.overall)]
    rows += [(f"suite {rate.name}", rate) for rate in report.suites if len(report.suites) > 1]
    rows += [(f"model {rate.name or 'unnamed'}", rate) for rate in report.models if len(report.models) > 1]
    top, bottom = 8.0, 8.0 + ROW * len(rows)
    items: list[Stroke | Band | Mark | Text] = []

    def x(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * value

    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        items += [
            Stroke(((x(tick), top), (x(tick), bottom)), "rule"),
            Text(x(tick), bottom + 16, f"{100 * tick:.0f} %", "dim", "middle"),
        ]
    for number, (label, rate) in enumerate(rows):
        y = top + ROW * (number + 0.5)
        items.append(Text(16, y + 4, clip(label, 36)))
        if rate.wins:
            items.append(Stroke(((x(rate.wilson_lower), y - 3), (x(rate.wilson_upper), y - 3)), "accent", 2.0))
            if rate.clustered_lower is not None and rate.clustered_upper is not None:
                items.append(
                    Stroke(((x(rate.clustered_lower), y + 3), (x(rate.clustered_upper), y + 3)), "violet", 2.0)
                )
            tone: Tone = "ink"
            items.append(Mark(x(rate.share), y, "diamond", tone, 4, f"{label}: {rate.failures} of {rate.wins}"))
        items.append(Text(RIGHT + 12, y + 4, f"{rate.failures} of {rate.wins}"))
    items.append(Text((LEFT + RIGHT) / 2, bottom + 36, "share of the gains that do not transfer", "ink", "middle"))
    return Drawing(
        "rates",
        "How many gains do not transfer.",
        f"{100 * report.confidence:.0f} % intervals: above, Wilson's; below, a bootstrap over tasks.",
        WIDTH,
        bottom + 46,
        tuple(items),
    )


def cases_table(report: TransferReport, grades: Sequence[str] = (), targets: Sequence[str] = ()) -> Html:
    """``grades`` and ``targets`` go with the cases, one each, or are left out."""
    rows = []
    for i, case in enumerate(report.cases):
        held_out = "wrong" if case.outcome == "wrong" else "-" if case.held_out is None else f"{case.held_out:.3g}"
        outcome = case.outcome if case.win else "no gain"
        rows.append(
            TableRow(
                (
                    case.task,
                    case.suite,
                    case.model or "-",
                    f"{case.in_distribution:.3g}",
                    held_out,
                    Cell(outcome, _TONES.get(outcome, "")),
                    grades[i] if grades else case.grade,
                    case.source,
                ),
                outcome,
                targets[i] if targets else "",
            )
        )
    kinds = list(dict.fromkeys(row.kind for row in rows))
    head = ("task", "suite", "model", "searched", "held out", "outcome", "grade", "from")
    return filterable(table(head, rows, caption="Every kernel behind the rates", numbers=(3, 4)), kinds, "kernels")


def rate_table(report: TransferReport) -> Html:
    rows = []
    for kind, members in (("all", (report.overall,)), ("suite", report.suites), ("model", report.models)):
        for rate in members:
            clustered = "-"
            if rate.clustered_lower is not None and rate.clustered_upper is not None:
                clustered = f"{100 * rate.clustered_lower:.1f} to {100 * rate.clustered_upper:.1f} %"
            wilson = f"{100 * rate.wilson_lower:.1f} to {100 * rate.wilson_upper:.1f} %"
            name = "all" if kind == "all" else f"{kind} {rate.name or 'unnamed'}"
            shown = share(rate.share) if rate.wins else "-"
            rows.append(
                TableRow(
                    (name, f"{rate.failures} of {rate.wins}", shown, wilson, clustered, str(rate.wrong), str(rate.open))
                )
            )
    head = ("", "do not transfer", "share", "95 %, Wilson", "95 %, over tasks", "of them wrong", "open")
    return table(head, rows, caption="Rates", numbers=tuple(range(1, 7)))


def of_table(report: TransferReport, name: str, grades: Sequence[str]) -> View:
    """A published table."""
    spread = scatter([point(case, grade) for case, grade in zip(report.cases, grades, strict=True)], THRESHOLD)
    shown = rates(report)
    sections: tuple[Section, ...] = (
        section("Kernels", cases_table(report, grades if any(grades) else ())),
        section("Rates", figures(shown), rate_table(report), _method(report)),
    )
    return View(name, "a table of gains", of_transfer(report, 0), spread, sections, (spread, shown))


def _method(report: TransferReport) -> Html:
    return note(
        f"A gain is a kernel at least {THRESHOLD:g} times as fast as the start where it was searched. It transfers if "
        f"it is right where it was held out, and at least {THRESHOLD:g} times as fast there. Intervals: Wilson's "
        f"score, and a bootstrap over tasks ({report.resamples} resamples, seed {report.seed})."
    )


def with_noise(view: View, samples: Mapping[str, Sequence[float]]) -> View:
    """The study's other figure: how much one kernel differs from itself."""
    rows = []
    for label, values in samples.items():
        middle = sorted(values)[len(values) // 2]
        rows.append(Strip(label, [value / middle for value in values], "accent", duration(middle)))
    drawing = strips(
        rows,
        name="noise",
        title="One kernel, run twelve times at each configuration (Apple M1 Pro, arXiv 2608.08722).",
        description="Over the median, which stands at the end of the row. Short runs have two states of the clock.",
        axis="time of one run over the median",
    )
    return replace(
        view, sections=(*view.sections, section("Noise", figures(drawing))), drawings=(*view.drawings, drawing)
    )
