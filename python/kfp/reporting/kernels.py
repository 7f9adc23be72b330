"""The sources of a run for the page: every line once, and how a kernel differs from another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from kfp.reporting.markup import visible

_LINE_END = re.compile(r"\r\n|\n|\r")
# A kernel of a person or a model is far below; what is above is cut, and the page says so.
MOST_LINES = 3000
MOST_COLUMNS = 400
# Of all sources of one run together.
MOST_CHARACTERS = 2_500_000


@dataclass
class Sources:
    """``add`` in the order of importance: what comes when the page is full is left out, and ``left_out`` counts it."""

    _numbers: dict[str, int] = field(default_factory=dict)
    _lines: list[str] = field(default_factory=list)
    _kernels: dict[str, list[int]] = field(default_factory=dict)
    _cut: dict[str, str] = field(default_factory=dict)
    _size: int = 0
    left_out: int = 0

    def add(self, key: str, text: str) -> None:
        if key in self._kernels:
            return
        # As compilers count them; str.splitlines would break at form feeds, too.
        lines = _LINE_END.split(text.removesuffix("\n")) if text else []
        shown = [_clipped(visible(line)) for line in lines[:MOST_LINES]]
        cost = sum(len(line) for line in set(shown) if line not in self._numbers) + 6 * len(shown)
        if self._size + cost > MOST_CHARACTERS:
            self.left_out += 1
            return
        self._size += cost
        if len(lines) > MOST_LINES:
            self._cut[key] = f"{len(lines) - MOST_LINES} more lines are in the run's folder"
        self._kernels[key] = [self._number(line) for line in shown]

    def _number(self, line: str) -> int:
        if line not in self._numbers:
            self._numbers[line] = len(self._lines)
            self._lines.append(line)
        return self._numbers[line]

    def __contains__(self, key: str) -> bool:
        return key in self._kernels

    def changes(self, key: str, other: str) -> list[list[int]] | None:
        """What of ``other`` became what of ``key``, as [from, to, from, to) in lines; None where one is not there."""
        if key not in self._kernels or other not in self._kernels:
            return None
        before, after = self._kernels[other], self._kernels[key]
        if before == after:
            return []
        return [
            [i1, i2, j1, j2]
            for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=True).get_opcodes()
            if tag != "equal"
        ]

    def changes_of(self, pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, list[list[int]]]]:
        """By the kernel and by what it is held against."""
        found: dict[str, dict[str, list[list[int]]]] = {}
        for key, other in pairs:
            changes = self.changes(key, other)
            if changes is not None:
                found.setdefault(key, {})[other] = changes
        return found

    def to_json(self) -> dict[str, Any]:
        return {"lines": self._lines, "kernels": self._kernels, "cut": self._cut}


def _clipped(line: str) -> str:
    return line if len(line) <= MOST_COLUMNS else f"{line[:MOST_COLUMNS]}… ({len(line) - MOST_COLUMNS} more characters)"


def counts(changes: Sequence[Sequence[int]] | None) -> str:
    """+added -removed, in lines."""
    if changes is None:
        return ""
    return f"+{sum(c[3] - c[2] for c in changes)} −{sum(c[1] - c[0] for c in changes)}"
