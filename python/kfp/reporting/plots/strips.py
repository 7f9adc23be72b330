"""Single values side by side, a strip for each group: samples, a kernel against itself, the clock's witness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kfp.reporting.drawing import Band, Drawing, Mark, Stroke, Text, Tone
from kfp.reporting.plots.axes import Log, grid_x, log_axis, plain_log_axis, tick_text
from kfp.tables import clip

LEFT, RIGHT, WIDTH, ROW = 236.0, 612.0, 700.0, 22.0
# More points than these say nothing more to the eye.
MOST_POINTS = 160


@dataclass(frozen=True)
class Strip:
    """``note`` stands at its end. ``margin``: what counts as no difference, as a band about 1."""

    label: str
    values: Sequence[float]
    tone: Tone = "ink"
    note: str = ""
    margin: float | None = None


def strips(
    rows: Sequence[Strip], *, name: str, title: str, description: str, axis: str, ratios: bool = True,
    show: Callable[[float], str] = tick_text,
) -> Drawing:  # fmt: skip
    """With ``ratios`` the axis is about 1. ``show`` names a tick."""
    top, bottom = 8.0, 8.0 + ROW * len(rows)
    values = [value for row in rows for value in row.values]
    bands = [1 + row.margin for row in rows if row.margin]
    x: Log = log_axis([*values, *bands], LEFT, RIGHT, least=1.02) if ratios else plain_log_axis(values, LEFT, RIGHT)
    items: list[Stroke | Band | Mark | Text] = []
    for number, row in enumerate(rows):
        if row.margin:
            left, right = x(1 / (1 + row.margin)), x(1 + row.margin)
            items.append(Band(left, top + ROW * number + 2, right - left, ROW - 4))
    items += grid_x(x, top, bottom, show)
    if ratios:
        items.append(Stroke(((x(1), top), (x(1), bottom)), "dim", 1.5))
    for number, row in enumerate(rows):
        y = top + ROW * (number + 0.5)
        items.append(Text(8, y + 4, clip(row.label, 34), "ink"))
        shown = row.values[:: -(-len(row.values) // MOST_POINTS)] if row.values else ()
        for i, value in enumerate(shown):
            # Apart by turns, so that equal values don't hide one another.
            items.append(Mark(x(value), y + (-3, 0, 3)[i % 3], "dot", row.tone, 4.5))
        items.append(Text(RIGHT + 12, y + 4, clip(row.note, 14), "dim"))
    items.append(Text((LEFT + RIGHT) / 2, bottom + 36, axis, "ink", "middle"))
    return Drawing(name, title, description, WIDTH, bottom + 46, tuple(items))
