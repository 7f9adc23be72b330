"""What pages are made of: views with their sections, tables, notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kfp.reporting.answer import Answer
from kfp.reporting.drawing import Drawing
from kfp.reporting.markup import Child, Html, element
from kfp.reporting.svg import figure


@dataclass(frozen=True)
class Section:
    """A tab of a view. ``name`` is its title and, in lower case, a part of its address."""

    name: str
    body: Html


@dataclass(frozen=True)
class View:
    """All about one subject. ``data`` is what the page's script draws sources from; ``drawings`` are its figures."""

    name: str
    about: str
    answer: Answer
    hero: Drawing | None
    sections: tuple[Section, ...]
    drawings: tuple[Drawing, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """``sort`` is what a column is sorted by, where its text won't do."""

    content: Child
    tone: str = ""
    number: bool = False


@dataclass(frozen=True)
class TableRow:
    cells: tuple[Cell | str, ...]
    kind: str = ""
    target: str = ""


def section(name: str, *children: Child) -> Section:
    return Section(name, element("div", *children))


def figures(*drawings: Drawing | None) -> list[Html]:
    return [figure(drawing) for drawing in drawings if drawing is not None]


def heading(text: str) -> Html:
    return element("h3", text)


def note(*children: Child) -> Html:
    return element("p", *children, class_="note")


def table(headings: Sequence[str], rows: Iterable[TableRow], *, caption: str, numbers: Sequence[int] = ()) -> Html:
    """``numbers``: columns that are aligned right. A row with a target has a button in its first cell."""
    head = element("tr", [element("th", text, scope="col", class_="number" if i in numbers else None)
                          for i, text in enumerate(headings)])  # fmt: skip
    body = [_row(row, numbers) for row in rows]
    inner = element("table", element("caption", caption), element("thead", head), element("tbody", body))
    return element("div", inner, class_="scroll", tabindex="0", role="group", aria_label=caption)


def _row(row: TableRow, numbers: Sequence[int]) -> Html:
    cells = []
    for i, cell in enumerate(row.cells):
        content, tone = (cell.content, cell.tone) if isinstance(cell, Cell) else (cell, "")
        if i == 0 and row.target:
            content = element("a", content, href=f"#{row.target}", data_open=row.target)
        style = " ".join(filter(None, ("number" if i in numbers else "", f"tone-{tone}" if tone else "")))
        cells.append(element("td", content, class_=style or None))
    return element("tr", cells, data_kind=row.kind or None)


def filterable(content: Html, kinds: Sequence[str], what: str) -> Html:
    """``content`` holds rows with a kind; one may be chosen, and text searched for."""
    options = [element("option", "all", value=""), *(element("option", kind, value=kind) for kind in kinds)]
    bar = element(
        "div",
        element("label", "show ", element("select", options, data_filter="kind")),
        element("label", "with ", element("input", type="search", data_filter="text", placeholder="text to find")),
        element("output", "", data_filter="count"),
        class_="filters",
    )
    return element("div", bar, content, class_="filterable", data_what=what)


def pairs(items: Iterable[tuple[str, Child]]) -> Html:
    return element("dl", [[element("dt", name), element("dd", value)] for name, value in items], class_="pairs")


def code(text: str) -> Html:
    return element("pre", element("code", text), tabindex="0", role="group", aria_label="code")


def fold(summary: str, *children: Child) -> Html:
    return element("details", element("summary", summary), *children)
