"""HTML and SVG in which text can't become markup: what is not ``Html`` already is escaped, always."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import TypeAlias

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
# Elements that have no end.
_EMPTY = {"br", "hr", "input", "meta", "circle", "line", "path", "polyline", "polygon", "rect"}
_KEPT = "\n\t"


class Html(str):
    """Text that is markup."""

    __slots__ = ()


Child: TypeAlias = "str | Html | Iterable[Child] | None"


def visible(text: str) -> str:
    """Characters that would not be seen, or would reorder what is seen, as their code points.

    A source must read as the compiler reads it (Boucher & Anderson, Trojan Source, USENIX Security 2023).
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return f"⟨U+{ord(character):04X}⟩" if hidden and character not in _KEPT else character


def escape(text: str) -> Html:
    return Html(visible(text).translate(_ESCAPES))


def join(children: Child) -> Html:
    if children is None:
        return Html()
    if isinstance(children, Html):
        return children
    if isinstance(children, str):
        return escape(children)
    return Html("".join(join(child) for child in children))


def element(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Html:
    """``class_`` and ``data_kind`` become class and data-kind. None and False leave an attribute out."""
    text = f"<{name}"
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.rstrip("_").replace("_", "-")
        shown = "" if value is True else value if isinstance(value, str) else number(value)
        text += f" {label}" if value is True else f' {label}="{escape(shown)}"'
    if name in _EMPTY:
        return Html(f"{text}/>")
    return Html(f"{text}>{join(children)}</{name}>")


def number(value: float) -> str:
    """A coordinate: at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
