"""One evaluation: right or wrong, how fast, and every sample."""

from __future__ import annotations

from kfp.reporting.answer import of_evaluation
from kfp.reporting.blocks import Cell, Section, TableRow, View, figures, section, table
from kfp.reporting.drawing import Drawing
from kfp.reporting.markup import Html
from kfp.reporting.plots.forest import Row, forest
from kfp.reporting.plots.strips import Strip, strips
from kfp.reporting.views.provenance import command_block, device_pairs
from kfp.results import ConfigurationResult, Evaluation
from kfp.tables import duration, short_exponent, significant


def of(result: Evaluation, name: str) -> View:
    shares, samples = _shares(result), _samples(result)
    drawings = tuple(d for d in (shares, samples) if d is not None)
    sections: list[Section] = [section("Configurations", configuration_table(result), figures(samples))]
    if result.diagnostics:
        sections.append(section("Diagnostics", diagnostics(result)))
    options = f"--device {result.device.name} --scale {result.scale} --seed {result.seed} --math {result.math}"
    command = f"kfp evaluate {result.task} my_kernel.metal {options}{' --checked' if result.checked else ''}"
    sections.append(section("Provenance", command_block(command), device_pairs(result.device, result.kfp_version)))
    about = (
        f"{result.task} on {result.device.name} ({result.device.description}), {result.scale} size, {result.math} math"
    )
    return View(name, about, of_evaluation(result), shares, tuple(sections), drawings)


def configuration_table(result: Evaluation) -> Html:
    head = (
        "configuration",
        "result",
        "error",
        "tolerance",
        "time",
        "95 %",
        "samples",
        "achieved",
        "ceiling",
        "share",
        "",
    )
    rows = [_row(row) for row in result.configurations]
    return table(head, rows, caption="Configurations", numbers=tuple(range(2, 10)))


def _row(row: ConfigurationResult) -> TableRow:
    timing = row.timing
    interval = timing.interval if timing is not None else None
    return TableRow(
        (
            row.label,
            Cell("right" if row.correct else "wrong", "" if row.correct else "bad"),
            "" if row.error is None else short_exponent(row.error),
            "" if row.tolerance is None else short_exponent(row.tolerance),
            "" if timing is None else duration(timing.seconds),
            "" if interval is None else f"{duration(interval[0])} to {duration(interval[1])}",
            "" if timing is None else str(len(timing.samples)),
            "" if row.achieved is None else f"{significant(row.achieved)} {row.unit}",
            "" if row.ceiling is None else f"{significant(row.ceiling)} {row.unit}",
            "" if row.fraction is None else f"{100 * row.fraction:.1f} %",
            "; ".join(text for text in (row.detail, *row.flags) if text),
        )
    )


def diagnostics(result: Evaluation) -> Html:
    tones = {"error": "bad", "warning": "doubt", "note": "dim"}
    rows = [
        TableRow((Cell(d.severity, tones[d.severity]), f"{d.line}:{d.column}" if d.line else "", d.message))
        for d in result.diagnostics
    ]
    return table(("severity", "line:column", "message"), rows, caption="What the compiler said")


def _shares(result: Evaluation) -> Drawing | None:
    rows = []
    for row in result.configurations:
        if row.fraction is None or row.timing is None:
            rows.append(Row(row.label, note="right" if row.correct else "wrong", tone="bad"))
            continue
        interval, seconds = row.timing.interval, row.timing.seconds
        bounds = (row.fraction * seconds / interval[1], row.fraction * seconds / interval[0]) if interval else None
        rows.append(Row(row.label, row.fraction, bounds, "accent" if row.correct else "bad"))
    if not any(row.ratio is not None for row in rows):
        return None
    return forest(
        rows,
        name="shares",
        title="What is achieved of the ceiling.",
        description="1 is the ceiling; lines are 95 % intervals of this session.",
        axis="share of the ceiling",
    )


def _samples(result: Evaluation) -> Drawing | None:
    rows = [
        Strip(r.label, r.timing.samples, "accent", duration(r.timing.seconds))
        for r in result.configurations
        if r.timing
    ]
    if not rows:
        return None
    return strips(
        rows,
        name="samples",
        title="Every sample.",
        description="Seconds of one run on the device; medians at the end of each row.",
        axis="time of one run",
        ratios=False,
        show=duration,
    )
