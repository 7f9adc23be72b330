"""From places in intermediate code to tokens of the user's text, through macros and through functions put in line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kfp.auditing.program.module import Module
from kfp.auditing.results import Location

# The name under which the compiler sees the program.
PROGRAM = "program_source"
# Deeper nests of functions put in line are cut off.
_DEEPEST = 100


class Token(NamedTuple):
    """``line`` and ``column``: where the outermost macro that it came out of is used; ``origin`` 0: out of none."""

    text: str
    line: int
    column: int
    origin: int


class Origin(NamedTuple):
    """A place in the body of a macro; ``parent``: where the use of that macro came from."""

    macro: str
    line: int
    column: int
    parent: int


@dataclass(frozen=True)
class SourceMap:
    tokens: Sequence[Token]
    origins: Sequence[Origin]
    lines: Sequence[int | None]

    def frames(self, module: Module, place: int) -> Iterator[int]:
        """The tokens that a place leads to: in the function itself, at its call, at the call of that, …"""
        for _ in range(_DEEPEST):
            found = module.places.get(place)
            if found is None:
                return
            if 0 < found.line <= len(self.lines) and module.file_of(found.scope) == PROGRAM:
                token = self.lines[found.line - 1]
                if token is not None:
                    yield token
            place = found.inlined_at

    def location(self, token: int | None) -> Location | None:
        if token is None:
            return None
        found = self.tokens[token]
        return Location(found.line, found.column) if found.line else None

    def written(self, token: int) -> tuple[int, int]:
        """(line, column) of the spelling of a token: in the body of a macro, if that is where it came from."""
        found = self.tokens[token]
        if found.origin:
            origin = self.origins[found.origin]
            return origin.line, origin.column
        return found.line, found.column
