"""What a gain was where it was searched, against what it is where it was held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kfp.reporting.drawing import Band, Drawing, Mark, Shape, Stroke, Text, Tone
from kfp.reporting.plots.axes import grid_x, grid_y, log_axis

Standing: TypeAlias = Literal[
    "transfers", "gamed", "leak", "overfit", "benign", "does not transfer", "wrong", "open", "no gain"
]
# Told apart by shape as well as by colour.
LOOKS: dict[Standing, tuple[Shape, Tone, str]] = {
    "transfers": ("disc", "good", "transfers"),
    "gamed": ("square", "bad", "gamed: an arm for what was measured"),
    "leak": ("diamond", "accent", "passes by a leak of the gate"),
    "overfit": ("triangle", "violet", "overfit to the data or the launch"),
    "benign": ("ring", "dim", "benign"),
    "does not transfer": ("frame", "bad", "does not transfer, mechanism unknown"),
    "wrong": ("cross", "bad", "wrong where it was held out"),
    "open": ("ring", "doubt", "open"),
    "no gain": ("dot", "dim", "no gain to begin with"),
}
LEFT, TOP, SIDE, STRIP = 52.0, 12.0, 396.0, 26.0


@dataclass(frozen=True)
class Point:
    """Ratios over the starting kernel, with bounds where they are known. ``held_out`` is None for a wrong kernel."""

    name: str
    standing: Standing
    gain: float
    held_out: float | None
    gain_bounds: tuple[float, float] | None = None
    held_out_bounds: tuple[float, float] | None = None
    target: str = ""


def scatter(points: Sequence[Point], threshold: float, name: str = "scatter") -> Drawing:
    right, bottom = LEFT + SIDE, TOP + SIDE
    gains = [value for p in points for value in (p.gain, *(p.gain_bounds or ()))]
    others = [value for p in points if p.held_out is not None for value in (p.held_out, *(p.held_out_bounds or ()))]
    x, y = log_axis(gains, LEFT, right, least=1.5), log_axis(others, bottom, TOP, least=1.5)
    strip = bottom + STRIP
    items: list[Stroke | Band | Mark | Text] = [Band(LEFT, bottom + 4, SIDE, STRIP - 4)]
    # The ticks' labels belong below the strip.
    items += [_lowered(item, STRIP) if isinstance(item, Text) else item for item in grid_x(x, TOP, bottom)]
    items += grid_y(y, LEFT, right)
    low, high = max(x.low, y.low), min(x.high, y.high)
    items.append(Stroke(((x(low), y(low)), (x(high), y(high))), "dim", 1.0, dashed=True))
    items.append(Stroke(((LEFT, y(threshold)), (right, y(threshold))), "dim"))
    items.append(Stroke(((x(threshold), TOP), (x(threshold), bottom)), "dim"))
    items += [
        Text(LEFT + 8, TOP + 14, "above the dashed line: more gained elsewhere", "dim"),
        Text(right - 6, bottom - 8, "gained only where it was searched", "dim", "end"),
        Text(LEFT - 6, bottom + 20, "wrong", "dim", "end"),
        Text(LEFT + SIDE / 2, strip + 34, "times as fast as the start, where it was searched", "ink", "middle"),
        Text(14, TOP + SIDE / 2, "times as fast, where it was held out", "ink", "middle", upright=False),
    ]
    for point in sorted(points, key=lambda p: p.standing != "no gain"):
        shape, tone, _ = LOOKS[point.standing]
        at_x = x(point.gain)
        if point.gain_bounds and point.held_out is not None:
            items.append(Stroke(tuple((x(b), y(point.held_out)) for b in point.gain_bounds), tone))
        if point.held_out is None:
            items.append(Mark(at_x, bottom + 16, "cross", tone, 5, _told(point), point.target))
            continue
        if point.held_out_bounds:
            items.append(Stroke(tuple((at_x, y(b)) for b in point.held_out_bounds), tone))
        items.append(Mark(at_x, y(point.held_out), shape, tone, 5, _told(point), point.target))
    items += _legend(points, right + 20)
    return Drawing(
        name,
        "Gain where it was searched, against gain where it was held out.",
        "On the dashed diagonal as much is gained elsewhere; below the line at "
        f"{threshold:g} the gain is gone. Kernels that are wrong where they were held out are in the strip below.",
        right + 290,
        strip + 44,
        tuple(items),
    )


def _lowered(text: Text, by: float) -> Text:
    return Text(text.x, text.y + by, text.text, text.tone, text.anchor)


def _told(point: Point) -> str:
    held_out = "wrong" if point.held_out is None else f"{point.held_out:.3g}"
    return f"{point.name}: {point.gain:.3g} where it was searched, {held_out} held out: {LOOKS[point.standing][2]}"


def _legend(points: Sequence[Point], left: float) -> list[Stroke | Band | Mark | Text]:
    items: list[Stroke | Band | Mark | Text] = []
    y = TOP + 12
    for standing, (shape, tone, label) in LOOKS.items():
        count = sum(point.standing == standing for point in points)
        if count:
            items += [Mark(left, y - 4, shape, tone, 5), Text(left + 12, y, f"{label} ({count})", "ink")]
            y += 22
    return items
