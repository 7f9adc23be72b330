"""Drawings as files for a paper, by matplotlib from ``kfp[figures]``: it embeds fonts, which a printer asks for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kfp.errors import UsageError
from kfp.reporting.drawing import FONT, Band, Drawing, Mark, Stroke, Text, Tone
from kfp.runs.files import refusals

POINTS_PER_INCH = 72.0
DOTS_PER_INCH = 300
# Those of the page in light.
COLOURS: dict[Tone, str] = {
    "ink": "#171a1e",
    "dim": "#565e6b",
    "rule": "#d9dde3",
    "good": "#07693f",
    "bad": "#a81c14",
    "doubt": "#7a4d00",
    "accent": "#17529f",
    "violet": "#6a2ea6",
}
_BAND = "#e8ebf0"
_MARKERS = {
    "disc": "o",
    "ring": "o",
    "dot": "o",
    "square": "s",
    "frame": "s",
    "diamond": "D",
    "triangle": "^",
    "cross": "x",
}


def write_figures(drawings: Iterable[Drawing], folder: Path, kind: str) -> list[str]:
    """One file each, named after the drawing. Raises ``kfp.UsageError`` without matplotlib."""
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("figures need matplotlib; python -m pip install 'kfp[figures]'") from None
    with refusals(folder):
        folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for drawing in drawings:
        size = (drawing.width / POINTS_PER_INCH, drawing.height / POINTS_PER_INCH)
        path = folder / f"{drawing.name}.{kind}"
        # TrueType, so that text stays text; no dates, so that the same figures are the same files.
        with matplotlib.rc_context({"pdf.fonttype": 42}), refusals(path):
            figure = Figure(figsize=size, dpi=DOTS_PER_INCH)
            FigureCanvasAgg(figure)
            _draw(figure, drawing)
            metadata = {"CreationDate": None, "Title": drawing.title} if kind == "pdf" else {"Title": drawing.title}
            figure.savefig(path, metadata=metadata)
        paths.append(str(path))
    return paths


def _draw(figure: Any, drawing: Drawing) -> None:
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, drawing.width)
    axes.set_ylim(drawing.height, 0)
    axes.axis("off")
    for order, item in enumerate(drawing.items):
        if isinstance(item, Stroke):
            x, y = zip(*item.points, strict=True)
            style = (0, (4, 3)) if item.dashed else "-"
            axes.plot(x, y, color=COLOURS[item.tone], linewidth=item.width, linestyle=style, zorder=order)
        elif isinstance(item, Band):
            axes.add_patch(_rectangle(item, order))
        elif isinstance(item, Text):
            place = {"start": "left", "middle": "center", "end": "right"}[item.anchor]
            axes.text(
                item.x, item.y, item.text, color=COLOURS[item.tone], fontsize=FONT * 0.86, ha=place, va="baseline",
                rotation=0 if item.upright else 90, rotation_mode="anchor", weight="bold" if item.bold else "normal",
                parse_math=False, zorder=order,
            )  # fmt: skip
        else:
            _mark(axes, item, order)


def _rectangle(band: Band, order: int) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((band.x, band.y), band.width, band.height, facecolor=_BAND, edgecolor="none", zorder=order)


def _mark(axes: Any, mark: Mark, order: int) -> None:
    colour = COLOURS[mark.tone]
    hollow = mark.shape in ("ring", "frame")
    across = 2 * mark.size * (0.5 if mark.shape == "dot" else 0.8 if mark.shape == "diamond" else 1.0)
    axes.plot(
        [mark.x], [mark.y], marker=_MARKERS[mark.shape], markersize=across, linestyle="none", zorder=order,
        markerfacecolor="white" if hollow else colour, markeredgecolor=colour,
        markeredgewidth=1.8 if hollow or mark.shape == "cross" else 0.0,
    )  # fmt: skip
