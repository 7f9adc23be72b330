"""Edits of a source's text at places that the compiler gave: in bytes, as its columns are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kfp.auditing.program.source_map import SourceMap

_WORD = re.compile(rb"[A-Za-z_]\w*|0[xX][0-9a-fA-F]+\w*|\d[\w.]*")
_SKIPPED = re.compile(rb"(?:\s|\\\r?\n|/\*.*?\*/|//[^\n]*)*", re.DOTALL)
_BRACKET = re.compile(rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|[()]", re.DOTALL)


@dataclass(frozen=True)
class Insertion:
    """``text`` in the place of ``length`` bytes from ``offset`` on."""

    offset: int
    length: int
    text: str


Edit = tuple[Insertion, ...]


@dataclass(frozen=True)
class Source:
    data: bytes
    starts: tuple[int, ...]

    def offset(self, line: int, column: int) -> int | None:
        if not 0 < line <= len(self.starts) or column < 1:
            return None
        offset = self.starts[line - 1] + column - 1
        return offset if offset < len(self.data) else None

    def has(self, offset: int, text: str) -> bool:
        encoded = text.encode()
        return self.data[offset : offset + len(encoded)] == encoded

    def edited(self, edit: Edit) -> str:
        data = self.data
        for one in sorted(edit, key=lambda insertion: insertion.offset, reverse=True):
            data = data[: one.offset] + one.text.encode() + data[one.offset + one.length :]
        return data.decode("utf-8", errors="replace")

    def operand_end(self, offset: int) -> int | None:
        """The end of the name or number at ``offset``, with the arguments in parentheses that follow a name."""
        word = _WORD.match(self.data, offset)
        if word is None:
            return None
        skipped = _SKIPPED.match(self.data, word.end())
        after = skipped.end() if skipped else word.end()
        if word[0][:1].isdigit() or self.data[after : after + 1] != b"(":
            return word.end()
        return self.closing(after)

    def closing(self, opening: int) -> int | None:
        """Behind the parenthesis that closes the one at ``opening``."""
        depth = 0
        for bracket in _BRACKET.finditer(self.data, opening):
            if bracket[0] == b"(":
                depth += 1
            elif bracket[0] == b")":
                depth -= 1
                if depth == 0:
                    return bracket.end()
        return None

    def wrapped(self, offset: int, before: str, after: str) -> Edit | None:
        end = self.operand_end(offset)
        return None if end is None else (Insertion(offset, 0, before), Insertion(end, 0, after))


def source_of(text: str) -> Source:
    data = text.encode()
    starts = [0]
    for i, byte in enumerate(data):
        if byte == 0x0A:
            starts.append(i + 1)
    return Source(data, tuple(starts))


def spellings(source: Source, source_map: SourceMap, token: int) -> Iterator[tuple[int, str]]:
    """(offset, what stands there) of a token from the outside in: the use of the outermost macro, then the uses within
    macros' bodies, then the token itself.
    """
    found = source_map.tokens[token]
    chain = []
    origin = found.origin
    while origin:
        chain.append(source_map.origins[origin])
        origin = source_map.origins[origin].parent
    names = [one.macro for one in reversed(chain)] + [found.text]
    places = [(found.line, found.column), *((one.line, one.column) for one in reversed(chain))]
    for name, (line, column) in zip(names, places, strict=True):
        offset = source.offset(line, column)
        if offset is not None and source.has(offset, name):
            yield offset, name


def unique(edits: Iterable[Edit | None]) -> list[Edit]:
    return list(dict.fromkeys(edit for edit in edits if edit))
