"""Ratios with their intervals, a row each, on one logarithmic axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kfp.reporting.drawing import Band, Drawing, Mark, Shape, Stroke, Text, Tone
from kfp.reporting.plots.axes import grid_x, log_axis
from kfp.tables import clip, significant

LEFT, RIGHT, WIDTH, ROW = 236.0, 548.0, 700.0, 24.0
LABEL = 34


@dataclass(frozen=True)
class Row:
    """``bounds`` are None where nothing was measured, and ``note`` says why. A row without ``ratio`` is a heading."""

    label: str
    ratio: float | None = None
    bounds: tuple[float, float] | None = None
    tone: Tone = "ink"
    shape: Shape = "square"
    note: str = ""


def forest(
    rows: Sequence[Row], *, name: str, title: str, description: str, threshold: float | None = None,
    margin: float | None = None, axis: str = "times as fast",
) -> Drawing:  # fmt: skip
    """``threshold``: what a gain has to be above. ``margin``: what is no difference, to both sides of 1."""
    top, bottom = 8.0, 8.0 + ROW * len(rows)
    values = [value for row in rows for value in (row.ratio or 1.0, *(row.bounds or ()))]
    x = log_axis(values, LEFT, RIGHT)
    items: list[Stroke | Band | Mark | Text] = []
    if margin:
        left, right = x(1 / (1 + margin)), x(1 + margin)
        items.append(Band(left, top, right - left, bottom - top))
    items += grid_x(x, top, bottom)
    items.append(Stroke(((x(1), top), (x(1), bottom)), "dim", 1.5))
    if threshold is not None:
        items.append(Stroke(((x(threshold), top), (x(threshold), bottom)), "dim", 1.0, dashed=True))
    for number, row in enumerate(rows):
        y = top + ROW * (number + 0.5)
        if row.ratio is None and row.bounds is None and not row.note:
            items.append(Text(8, y + 4, clip(row.label, LABEL + 60), "dim", bold=True))
            continue
        items.append(Text(16, y + 4, clip(row.label, LABEL), "ink"))
        if row.bounds is not None:
            items.append(Stroke(tuple((x(b), y) for b in row.bounds), row.tone, 2.0))
        if row.ratio is not None:
            items.append(Mark(x(row.ratio), y, row.shape, row.tone, 4, _told(row)))
        items.append(Text(RIGHT + 12, y + 4, clip(_figures(row), 24), "ink"))
    items.append(Text((LEFT + RIGHT) / 2, bottom + 36, axis, "ink", "middle"))
    return Drawing(name, title, description, WIDTH, bottom + 46, tuple(items))


def _figures(row: Row) -> str:
    if row.ratio is None:
        return row.note
    if row.bounds is None:
        return significant(row.ratio)
    return f"{significant(row.ratio)} ({significant(row.bounds[0])} to {significant(row.bounds[1])})"


def _told(row: Row) -> str:
    return f"{row.label}: {_figures(row)}{f', {row.note}' if row.note else ''}"
