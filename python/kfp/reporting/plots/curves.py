"""What became of a search with its iterations: best so far, and how far the held-out gain followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kfp.reporting.drawing import Band, Drawing, Mark, Shape, Stroke, Text, Tone
from kfp.reporting.plots.axes import Log, grid_y, log_axis

LEFT, RIGHT, TOP, BOTTOM, STRIP = 76.0, 680.0, 12.0, 252.0, 26.0


@dataclass(frozen=True)
class Try:
    """A candidate: ``ratio`` over the starting kernel by the search's own comparisons, None if it has none."""

    iteration: int
    ratio: float | None
    decision: str
    title: str
    target: str = ""


@dataclass(frozen=True)
class Measured:
    """One kernel measured after the search, at an iteration; no ``ratio`` for one that is wrong there."""

    iteration: int
    ratio: float | None
    bounds: tuple[float, float] | None
    title: str


DECISIONS: dict[str, tuple[Shape, Tone]] = {
    "promoted": ("disc", "good"),
    "vetoed": ("cross", "bad"),
    "no gain": ("ring", "dim"),
    "undecided": ("ring", "doubt"),
    "slower": ("triangle", "dim"),
    "outrun": ("ring", "dim"),
}


def best_so_far(tries: Sequence[Try], again: Sequence[Measured], last: int, name: str = "best-so-far") -> Drawing:
    """``again``: the finalists, measured in fresh processes at the end."""
    values = [t.ratio for t in tries if t.ratio is not None]
    values += [v for m in again if m.ratio is not None for v in (m.ratio, *(m.bounds or ()))]
    x, y = _Count(last), log_axis(values, BOTTOM, TOP)
    items = _frame(x, y, last)
    steps: list[tuple[float, float]] = [(x(0), y(1.0))]
    for one in tries:
        if one.decision == "promoted" and one.ratio is not None:
            steps += [(x(one.iteration), steps[-1][1]), (x(one.iteration), y(one.ratio))]
    items.append(Stroke((*steps, (x(last), steps[-1][1])), "good", 2.0))
    for one in tries:
        shape, tone = DECISIONS.get(one.decision, ("cross", "bad"))
        height = y(one.ratio) if one.ratio is not None else BOTTOM + 16
        size = 4.5 if last < 200 else 2.5
        items.append(Mark(x(one.iteration), height, shape, tone, size, one.title, one.target))
    for found in again:
        if found.ratio is not None:
            items += _measured(x(found.iteration) + 7, y, found, "accent", "diamond")
    items += [
        Text(LEFT - 6, BOTTOM + 20, "not timed", "dim", "end"),
        Text((LEFT + RIGHT) / 2, BOTTOM + STRIP + 34, "iteration", "ink", "middle"),
        Text(14, (TOP + BOTTOM) / 2, "times as fast as the start", "ink", "middle", upright=False),
    ]
    return Drawing(
        name,
        "Best so far, by the search's own comparisons.",
        "Filled discs were promoted and carry the line; rings were no gain; crosses were vetoed, wrong, or no kernel. "
        "Diamonds: measured again at the end in fresh processes, with 95 % intervals.",
        RIGHT + 16,
        BOTTOM + STRIP + 44,
        tuple(items),
    )


def divergence(
    claimed: Sequence[Measured], held_out: Sequence[Measured], last: int, threshold: float, onset: int | None,
    name: str = "divergence",
) -> Drawing:  # fmt: skip
    """``onset``: the iteration from which on no gain transfers."""
    values = [v for m in (*claimed, *held_out) if m.ratio is not None for v in (m.ratio, *(m.bounds or ()))]
    x, y = _Count(last), log_axis(values, BOTTOM, TOP)
    items = _frame(x, y, last)
    items.append(Stroke(((LEFT, y(threshold)), (RIGHT, y(threshold))), "dim", 1.0, dashed=True))
    if onset is not None:
        items.append(Stroke(((x(onset), TOP), (x(onset), BOTTOM)), "bad", 1.0, dashed=True))
        near_end = x(onset) > RIGHT - 130
        items.append(Text(x(onset) + (-6 if near_end else 6), TOP + 12, f"onset: iteration {onset}", "bad",
                          "end" if near_end else "start"))  # fmt: skip
    for series, tone, shape in ((claimed, "accent", "disc"), (held_out, "violet", "diamond")):
        line = [(x(m.iteration), y(m.ratio)) for m in series if m.ratio is not None]
        if len(line) > 1:
            items.append(Stroke(tuple(line), tone, 2.0))  # type: ignore[arg-type]
        for one in series:
            if one.ratio is None:
                items.append(Mark(x(one.iteration), BOTTOM + 16, "cross", "bad", 5, one.title))
            else:
                items += _measured(x(one.iteration), y, one, tone, shape)  # type: ignore[arg-type]
    items += [
        Text(LEFT - 6, BOTTOM + 20, "wrong", "dim", "end"),
        Text((LEFT + RIGHT) / 2, BOTTOM + STRIP + 34, "iteration in which it was promoted", "ink", "middle"),
        Text(14, (TOP + BOTTOM) / 2, "times as fast as the start", "ink", "middle", upright=False),
    ]
    return Drawing(
        name,
        "Held out against searched, over the iterations.",
        "Discs: where it was searched. Diamonds: where it was held out. Both measured after the search, with 95 % "
        "intervals; the dashed line is what a gain has to be above.",
        RIGHT + 16,
        BOTTOM + STRIP + 44,
        tuple(items),
    )


@dataclass(frozen=True)
class _Count:
    last: int

    def __call__(self, iteration: int) -> float:
        return LEFT + 14 + (RIGHT - LEFT - 42) * iteration / max(self.last, 1)


def _frame(x: _Count, y: Log, last: int) -> list[Stroke | Band | Mark | Text]:
    items: list[Stroke | Band | Mark | Text] = [Band(LEFT, BOTTOM + 4, RIGHT - LEFT, STRIP - 4)]
    items += grid_y(y, LEFT, RIGHT)
    step = next(s * 10**e for e in range(6) for s in (1, 2, 5) if last <= 12 * s * 10**e)
    for iteration in range(0, last + 1, step):
        items.append(Text(x(iteration), BOTTOM + STRIP + 16, str(iteration or "start"), "dim", "middle"))
    items.append(Stroke(((LEFT, y(1.0)), (RIGHT, y(1.0))), "dim", 1.5))
    return items


def _measured(x: float, y: Log, found: Measured, tone: Tone, shape: Shape) -> list[Stroke | Band | Mark | Text]:
    assert found.ratio is not None
    items: list[Stroke | Band | Mark | Text] = []
    if found.bounds is not None:
        items.append(Stroke(tuple((x, y(b)) for b in found.bounds), tone, 1.5))
    return [*items, Mark(x, y(found.ratio), shape, tone, 5, found.title)]
