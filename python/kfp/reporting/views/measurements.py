"""What a comparison rests on: the kernel against itself, the clock's witness, every sample."""

from __future__ import annotations

from collections.abc import Sequence

from kfp.reporting.blocks import Cell, TableRow, heading, note, table
from kfp.reporting.drawing import Drawing, Tone
from kfp.reporting.markup import Html
from kfp.reporting.plots.forest import Row, forest
from kfp.reporting.plots.strips import Strip, strips
from kfp.reporting.svg import figure
from kfp.tables import duration
from kfp.timing.results import Comparison, ComparisonVerdict, ConfigurationComparison
from kfp.timing.statistics import Interval

_TONES: dict[ComparisonVerdict, Tone] = {"win": "good", "no change": "dim", "undecided": "doubt"}


def bounds(interval: Interval | None) -> tuple[float, float] | None:
    return (interval.lower, interval.upper) if interval is not None else None


def comparison_forest(result: Comparison, name: str) -> Drawing:
    rows = [_row(row) for row in result.configurations]
    if result.interval is not None and len(rows) > 1:
        tone = _TONES.get(result.verdict, "bad")
        rows.append(Row("all together", result.interval.ratio, bounds(result.interval), tone, "diamond"))
    confidence = next((row.interval.confidence for row in result.configurations if row.interval), 0.95)
    return forest(
        rows,
        name=name,
        title=f"How many times as fast as {result.reference_name}, at each configuration.",
        description=f"Lines are {100 * confidence:.0f} % intervals; the band is what counts as no difference.",
        margin=result.margin,
    )


def _row(row: ConfigurationComparison) -> Row:
    if row.interval is None:
        return Row(row.label, note=row.verdict, tone="bad")
    return Row(row.label, row.interval.ratio, bounds(row.interval), _TONES.get(row.verdict, "bad"))


def panels(results: Sequence[tuple[str, Comparison]], prefix: str) -> list[Drawing]:
    """``results`` with a name each. Nothing where nothing was compared."""
    rows = [
        (_placed(name, row.label), row) for name, result in results for row in result.configurations if row.compared
    ]
    return [drawing for drawing in (_itself(rows, prefix), _clock(rows, prefix), _samples(rows, prefix)) if drawing]


_Rows = Sequence[tuple[str, ConfigurationComparison]]


def _itself(rows: _Rows, prefix: str) -> Drawing | None:
    found = [
        Strip(label, [one.same_arm_ratio for one in row.processes], "accent", _percent(row.aa_floor), row.aa_floor)
        for label, row in rows
        if row.processes
    ]
    if not found:
        return None
    return strips(
        found,
        name=f"{prefix}itself",
        title="A/A: the reference kernel against itself.",
        description="A point for each process; the band is the floor that a difference has to be above, its half-width "
        "at the end of the row. On a steady machine all points are at 1.",
        axis="ratio of the reference to itself",
    )


def _clock(rows: _Rows, prefix: str) -> Drawing | None:
    found = []
    for label, row in rows:
        values = sorted(value for one in row.processes for value in one.sentinels if value > 0)
        if values:
            middle = values[len(values) // 2]
            found.append(Strip(label, [value / middle for value in values], "violet", duration(middle)))
    if not found:
        return None
    return strips(
        found,
        name=f"{prefix}clock",
        title="The clock: fixed work, timed beside every block of samples.",
        description="Over its median, which stands at the end of the row. Two clusters are two states of the clock; "
        "a wide strip is a machine with other things to do. Pairs cancel both.",
        axis="time of the fixed work over its median",
    )


def _samples(rows: _Rows, prefix: str) -> Drawing | None:
    found = []
    for label, row in rows:
        if row.reference is None or row.candidate is None:
            continue
        arms: tuple[tuple[str, str, Tone, float], ...] = (
            ("reference", "", "dim", row.reference.seconds),
            ("candidate", "    the kernel", "good", row.candidate.seconds),
        )
        for attribute, name, tone, median in arms:
            values = [value for one in row.processes for value in getattr(one, attribute)]
            found.append(Strip(name or label, values, tone, duration(median)))
    if not found:
        return None
    return strips(
        found,
        name=f"{prefix}samples",
        title="Every sample, nothing trimmed.",
        description="One run on the device: of the reference in grey, of the kernel in green; medians at the end.",
        axis="time of one run",
        ratios=False,
        show=duration,
    )


def remarks(results: Sequence[tuple[str, Comparison]]) -> list[Html]:
    """Everything that the measuring itself had to say, once each, and where."""
    said: dict[str, list[str]] = {}
    for name, result in results:
        for row in result.configurations:
            place = _placed(name, row.label)
            for text in dict.fromkeys(filter(None, (row.reason, *row.flags))):
                said.setdefault(text, []).append(place)
    if not said:
        return []
    rows = [TableRow((Cell(text, "doubt"), "; ".join(places))) for text, places in said.items()]
    return [heading("Remarks"), table(("remark", "at"), rows, caption="What measuring had to say")]


def figures_and_remarks(results: Sequence[tuple[str, Comparison]], drawings: Sequence[Drawing]) -> list[Html]:
    if not drawings:
        return [note("Nothing was compared in pairs, so there is no noise floor to show."), *remarks(results)]
    return [*(figure(drawing) for drawing in drawings), *remarks(results)]


def _placed(name: str, label: str) -> str:
    """A draw is called one by its label already."""
    return label if not name or label.startswith("draw ") else f"{name}: {label}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"
