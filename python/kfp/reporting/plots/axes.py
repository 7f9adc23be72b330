"""Logarithmic and counting axes: ratios and times are compared by factors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kfp.reporting.drawing import Stroke, Text
from kfp.tables import significant

# A bound may be 0 or infinite; no axis goes further than this factor from 1.
FURTHEST = 1e6
# Nor is there a time shorter or longer than these, in seconds.
SHORTEST, LONGEST = 1e-12, 1e9


@dataclass(frozen=True)
class Log:
    """Values from ``low`` to ``high`` at ``start`` to ``end``; what lies outside is drawn at an end."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        if value != value:
            return self.start
        inside = min(max(value, self.low), self.high)
        share = math.log(inside / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 7) -> list[float]:
        """1, 2, 5, 10 … or, over less than a factor of four, even steps."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for digits in ((1, 2, 5), (1, 3), (1,)):
            found = [d * 10.0**e for e in range(first, last + 1) for d in digits]
            found = [value for value in found if self.low <= value <= self.high]
            if 2 < len(found) <= most:
                return found
        if len(found) > most:
            return found[:: math.ceil(len(found) / most)]
        step = 10 ** math.floor(math.log10(self.high - self.low))
        for factor in (0.1, 0.2, 0.5, 1.0):
            width = step * factor
            count = math.floor(self.high / width) - math.ceil(self.low / width) + 1
            if count <= most:
                return [width * (math.ceil(self.low / width) + i) for i in range(count)]
        return [self.low, self.high]


def log_axis(values: Iterable[float], start: float, end: float, *, around: float = 1.0, least: float = 1.15) -> Log:
    """Holds every usable value with some room, and ``around`` with a factor of ``least`` to both sides."""
    usable = [value for value in values if 1 / FURTHEST < value < FURTHEST]
    low = min([around / least, *usable])
    high = max([around * least, *usable])
    room = (high / low) ** 0.04
    return Log(low / room, high * room, start, end)


def plain_log_axis(values: Iterable[float], start: float, end: float) -> Log:
    """For quantities with a unit: no place of its own for 1."""
    usable = [value for value in values if SHORTEST < value < LONGEST] or [1.0]
    low, high = min(usable), max(usable)
    room = max((high / low) ** 0.05, 1.05)
    return Log(low / room, high * room, start, end)


def tick_text(value: float) -> str:
    if 1e-3 <= value < 1e6:
        return f"{value:.4g}"
    return significant(value)


def grid_x(axis: Log, top: float, bottom: float, show: Callable[[float], str] = tick_text) -> list[Stroke | Text]:
    items: list[Stroke | Text] = []
    for value in axis.ticks():
        x = axis(value)
        items += [Stroke(((x, top), (x, bottom)), "rule"), Text(x, bottom + 16, show(value), "dim", "middle")]
    return items


def grid_y(axis: Log, left: float, right: float) -> list[Stroke | Text]:
    items: list[Stroke | Text] = []
    for value in axis.ticks():
        y = axis(value)
        items += [Stroke(((left, y), (right, y)), "rule"), Text(left - 6, y + 4, tick_text(value), "dim", "end")]
    return items
