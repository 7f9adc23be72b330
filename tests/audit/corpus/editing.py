"""Edits of a seed's text, each of which fails if it doesn't find its place."""

from __future__ import annotations

import re
from collections.abc import Callable


def replaced(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise ValueError(f"expected {old!r} once, it is there {text.count(old)} times")
    return text.replace(old, new)


def in_body(source: str, kernel: str, change: Callable[[str], str]) -> str:
    start, end = _span(source, kernel)
    return source[:start] + change(source[start:end]) + source[end:]


def body(source: str, kernel: str) -> str:
    start, end = _span(source, kernel)
    return source[start:end]


def with_globals(source: str, text: str) -> str:
    """``text`` right after the headers."""
    return replaced(source, "using namespace metal;\n", f"using namespace metal;\n{text}") if text else source


def with_word(text: str, word: str, other: str) -> str:
    """Every use of the identifier ``word``; there must be one."""
    found, count = re.subn(rf"(?<![.\w]){word}\b", other, text)
    if not count:
        raise ValueError(f"{word!r} is not there")
    return found


def _span(source: str, kernel: str) -> tuple[int, int]:
    """Of the statements of a kernel: after its opening brace, up to the brace at the start of a line."""
    head = source.index(f"kernel void {kernel}(")
    start = source.index(") {", head) + len(") {")
    return start, source.index("\n}", start)
