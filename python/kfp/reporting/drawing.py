"""A drawing as data: marks at coordinates, in points, with a tone instead of a colour.

One layout serves the page, where styles give the tones their colours in light and dark, and the figures of a paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["ink", "dim", "rule", "good", "bad", "doubt", "accent", "violet"]
Shape: TypeAlias = Literal["disc", "ring", "square", "frame", "diamond", "triangle", "cross", "dot"]
Anchor: TypeAlias = Literal["start", "middle", "end"]

FONT = 12.0


@dataclass(frozen=True)
class Stroke:
    """A line through ``points``."""

    points: Sequence[tuple[float, float]]
    tone: Tone = "ink"
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Band:
    """A filled rectangle behind what is drawn on it."""

    x: float
    y: float
    width: float
    height: float
    tone: Tone = "rule"


@dataclass(frozen=True)
class Mark:
    """A point of data. ``title`` is what a pointer over it is told; ``target`` what a click opens."""

    x: float
    y: float
    shape: Shape = "disc"
    tone: Tone = "ink"
    size: float = 4.5
    title: str = ""
    target: str = ""


@dataclass(frozen=True)
class Text:
    x: float
    y: float
    text: str
    tone: Tone = "ink"
    anchor: Anchor = "start"
    bold: bool = False
    upright: bool = True


@dataclass(frozen=True)
class Drawing:
    """``title`` names it, ``description`` says what is to be seen, for whoever can't see it."""

    name: str
    title: str
    description: str
    width: float
    height: float
    items: tuple[Stroke | Band | Mark | Text, ...]
