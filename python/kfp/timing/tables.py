"""A comparison as text of at most 80 columns: a table, and a forest plot below it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kfp.tables import WIDTH, Line, Style, clip, diagnostic_lines, duration, grid, plain, significant, wrapped
from kfp.timing.results import Comparison, ComparisonVerdict, ConfigurationComparison, Series
from kfp.timing.statistics import Interval

if TYPE_CHECKING:
    from kfp.diagnosis import Diagnosis

STYLES: dict[ComparisonVerdict, Style] = {"win": "good", "no change": "", "undecided": "doubt"}

LABEL = 18
PLOT = WIDTH - LABEL - 2


def comparison_summary(result: Comparison) -> str:
    measured = f", {interval_text(result.interval)} times as fast" if result.interval else f": {result.reason}"
    return f"{result.task} on {result.device.name} against {result.reference_name}: {result.verdict}{measured}"


def comparison_text(result: Comparison, source: str | None = None) -> str:
    return plain(comparison_lines(result, source))


def comparison_lines(result: Comparison, source: str | None = None) -> list[Line]:
    where = f"{result.device.name} ({result.device.description})"
    setting = f"{result.scale} size, {result.math} math, seed {result.seed}, {result.grade} grade"
    lines = wrapped(f"{result.task} against {result.reference_name} on {where}, {setting}", style="bold")
    if result.diagnostics:
        lines += [Line(""), *diagnostic_lines(result.diagnostics, source)]
    if result.configurations:
        lines += [Line(""), *_table(result.configurations)]
        compared = [(row.label, row.interval, row.verdict) for row in result.configurations if row.interval]
        if result.interval and len(compared) > 1:
            compared.append(("all together", result.interval, result.verdict))
        if compared:
            lines += [Line(""), *forest(compared, result.margin)]
            lines += [Line(""), *_notes(result)]
    return [*lines, Line(""), *_verdict(result)]


def interval_text(interval: Interval) -> str:
    return f"{ratio_text(interval.ratio)} ({ratio_text(interval.lower)} to {ratio_text(interval.upper)})"


def ratio_text(value: float) -> str:
    if value == 0 or value == math.inf:
        return f"{value:g}"
    return f"{value:.3f}" if value < 10 else significant(value)


def _table(rows: Sequence[ConfigurationComparison]) -> list[Line]:
    cells = [
        (
            row.label,
            duration(row.reference.seconds) if row.reference else "-",
            duration(row.candidate.seconds) if row.candidate else "-",
            ratio_text(row.interval.ratio) if row.interval else "-",
            f"{ratio_text(row.interval.lower)} to {ratio_text(row.interval.upper)}" if row.interval else "-",
            str(row.pairs),
            row.verdict,
        )
        for row in rows
    ]
    confidence = next((f"{100 * row.interval.confidence:.0f} % " for row in rows if row.interval), "")
    heading = ("configuration", "reference", "candidate", "ratio", f"{confidence}interval", "pairs", "verdict")
    texts = grid(heading, cells, left=(0, 6))
    lines = [Line(texts[0], "dim")]
    for row, text in zip(rows, texts[1:], strict=True):
        lines.append(Line(text, STYLES.get(row.verdict, "bad")))
        notes = (row.reason, *row.flags) if row.compared else row.flags
        for note in notes:
            if note:
                lines += wrapped(f"{row.label}: {note}", "  ", "doubt")
    return lines


def forest(rows: Sequence[tuple[str, Interval, ComparisonVerdict]], margin: float) -> list[Line]:
    """Ratios on a logarithmic axis: an interval as a bar, its ratio as o, no difference as |, the margin as dots."""
    finite = [value for _, i, _ in rows for value in (i.ratio, i.lower, i.upper) if 0 < value < math.inf]
    # Symmetric about no difference, so that the eye needn't look for it.
    reach = min(math.log(1e6), 1.05 * max(2 * math.log1p(margin), *(abs(math.log(value)) for value in finite)))

    def column(value: float) -> int:
        position = math.log(value) if 0 < value < math.inf else math.copysign(math.inf, value - 1)
        return round((PLOT - 1) * (0.5 + 0.5 * max(-1.0, min(1.0, position / reach))))

    def scale(value: float) -> str:
        return ratio_text(round(value, 3)) if value < 10 else significant(value)

    low, high = scale(math.exp(-reach)), scale(math.exp(reach))
    axis = low + "1".center(PLOT - len(low) - len(high)) + high
    lines = [Line(" " * (LABEL + 2) + axis, "dim")]
    for label, interval, verdict in rows:
        cells = [" "] * PLOT
        for edge in (1 / (1 + margin), 1 + margin):
            cells[column(edge)] = "."
        cells[column(1.0)] = "|"
        first, last = column(interval.lower), column(interval.upper)
        for i in range(first, last + 1):
            cells[i] = "-"
        if interval.lower == 0:
            cells[first] = "<"
        if interval.upper == math.inf:
            cells[last] = ">"
        cells[column(interval.ratio)] = "o"
        text = f"{clip(label, LABEL).ljust(LABEL)}  {''.join(cells)}".rstrip()
        lines.append(Line(text, STYLES.get(verdict, "bad")))
    return lines


def _notes(result: Comparison) -> list[Line]:
    rows = [row for row in result.configurations if row.compared]
    series: list[Series] = [one for row in rows for one in row.processes]
    drops = sum(row.drops for row in rows)
    floors = [row.aa_floor for row in rows if row.aa_floor is not None]
    empties = [one.empty_dispatch_seconds for one in series]
    processes = max(len(row.processes) for row in rows)
    text = (
        f"ratio: reference time over candidate time, from pairs in ABBA blocks, {result.cache} cache"
        + (f", in {processes} fresh processes, the process as a random effect" if processes > 1 else "")
        + f"; win: more than {100 * result.margin:.3g} % faster (1 %, or the A/A floor, here "
        f"{100 * max(floors):.1f} %); {drops} pair{'' if drops == 1 else 's'} dropped; clock tick "
        f"{duration(result.device.tick_seconds)}, empty dispatch {duration(max(empties))}"
    )
    return wrapped(text, style="dim")


def diagnosis_lines(result: Diagnosis) -> list[Line]:
    lines = [*wrapped(f"doctor: {result.device.name} ({result.device.description})", style="bold"), Line("")]
    width = max(len(finding.subject) for finding in result.findings)
    for finding in result.findings:
        style: Style = {"good": "", "bad": "doubt", "unknown": "dim"}[finding.state]  # type: ignore[assignment]
        advice = f": {finding.advice}" if finding.advice else ""
        first, *others = wrapped(finding.detail + advice, " " * (width + 10), style)
        head = f"{finding.state:<8}{finding.subject.ljust(width + 2)}"
        lines += [Line(head + first.text[len(head) :], style), *others]
    if result.floor is None:
        return [*lines, Line(""), *wrapped(f"no A/A floor: {result.reason}", style="bad")]
    text = (
        f"A/A floor {100 * result.floor:.1f} %: 95 % of {len(result.ratios)} comparisons of a kernel with itself were "
        "less than this off 1"
    )
    return [*lines, Line(""), *wrapped(text, style="good" if result.healthy else "doubt")]


def _verdict(result: Comparison) -> list[Line]:
    style = STYLES.get(result.verdict, "bad")
    if result.interval is None:
        return wrapped(f"{result.verdict}: {result.reason}", style=style)
    return wrapped(f"{result.verdict}: {interval_text(result.interval)} times as fast", style=style)
