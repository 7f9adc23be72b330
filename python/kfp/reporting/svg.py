"""Drawings as inline SVG. Colours come from the page's styles, by class."""

from __future__ import annotations

import math

from kfp.reporting.drawing import Band, Drawing, Mark, Stroke, Text
from kfp.reporting.markup import Html, element, number


def figure(drawing: Drawing) -> Html:
    """With its caption: the title, and what is to be seen."""
    caption = element("figcaption", element("strong", drawing.title), " ", drawing.description)
    return element("figure", element("div", svg(drawing), class_="plot", tabindex="0", role="group",
                                     aria_label=drawing.title), caption, id=None)  # fmt: skip


def svg(drawing: Drawing) -> Html:
    return element(
        "svg",
        [_item(item) for item in drawing.items],
        viewBox=f"0 0 {number(drawing.width)} {number(drawing.height)}",
        width=drawing.width,
        height=drawing.height,
        role="img",
        aria_label=f"{drawing.title}. {drawing.description}",
    )


def _item(item: Stroke | Band | Mark | Text) -> Html:
    if isinstance(item, Stroke):
        points = " ".join(f"{number(x)},{number(y)}" for x, y in item.points)
        return element(
            "polyline",
            points=points,
            class_=f"stroke {item.tone}",
            stroke_width=item.width,
            stroke_dasharray="4 3" if item.dashed else None,
        )
    if isinstance(item, Band):
        return element("rect", x=item.x, y=item.y, width=item.width, height=item.height, class_=f"band {item.tone}")
    if isinstance(item, Text):
        turn = None if item.upright else f"rotate(-90 {number(item.x)} {number(item.y)})"
        style = f"label {item.tone}{' bold' if item.bold else ''}"
        return element("text", item.text, x=item.x, y=item.y, text_anchor=item.anchor, class_=style, transform=turn)
    return _mark(item)


def _mark(mark: Mark) -> Html:
    x, y, r = mark.x, mark.y, mark.size
    hollow = mark.shape in ("ring", "frame")
    style = f"mark {mark.tone}{' hollow' if hollow else ''}{' crossed' if mark.shape == 'cross' else ''}"
    if mark.shape in ("disc", "ring", "dot"):
        shape = element("circle", cx=x, cy=y, r=r / 2 if mark.shape == "dot" else r, class_=style)
    else:
        shape = element("path", d=_outline(mark), class_=style)
    if not mark.title and not mark.target:
        return shape
    title = element("title", mark.title) if mark.title else None
    return element("g", title, shape, data_open=mark.target or None)


def _outline(mark: Mark) -> str:
    x, y, r = mark.x, mark.y, mark.size
    if mark.shape == "cross":
        lines = ((x - r, y - r, x + r, y + r), (x - r, y + r, x + r, y - r))
        return "".join(f"M{number(a)} {number(b)}L{number(c)} {number(d)}" for a, b, c, d in lines)
    corners = {"triangle": 3, "diamond": 4}.get(mark.shape, 4)
    turn = {"triangle": -90.0, "diamond": -90.0}.get(mark.shape, -45.0)
    reach = r * {"triangle": 1.3, "diamond": 1.3}.get(mark.shape, 1.25)
    angles = [math.radians(turn + 360 * i / corners) for i in range(corners)]
    points = "L".join(f"{number(x + reach * math.cos(a))} {number(y + reach * math.sin(a))}" for a in angles)
    return f"M{points}Z"
