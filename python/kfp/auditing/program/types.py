"""Types of the intermediate code: sizes and layouts, as far as evaluating a condition needs them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["int", "float", "pointer", "vector", "array", "struct", "other"]

_FLOAT_BYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8}
_SCALAR = re.compile(r"i(\d+)$")
# Deeper than any type that a program of ours has; a hostile one is cut off here.
_DEEPEST = 40


@dataclass(frozen=True)
class Type:
    """``bits`` of an integer; ``elements`` of a vector or array; ``members`` of a struct, with their offsets."""

    text: str
    kind: Kind
    size: int = 0
    align: int = 1
    bits: int = 0
    count: int = 0
    members: tuple[Type, ...] = ()
    offsets: tuple[int, ...] = ()

    @property
    def element(self) -> Type:
        return self.members[0]


OTHER = Type("", "other")
POINTER = Type("ptr", "pointer", 8, 8)


class Types:
    """Reads types, the named ones of a module included; what it doesn't know is of kind ``other``."""

    def __init__(self, named: Mapping[str, str]) -> None:
        self._named = named
        self._known: dict[str, Type] = {}

    def read(self, text: str) -> Type:
        text = text.strip()
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._read(text, 0)
        return known

    def _read(self, text: str, depth: int) -> Type:
        text = text.strip()
        if depth > _DEEPEST:
            return OTHER
        if match := _SCALAR.match(text):
            bits = int(match[1])
            size = 1 << max(0, (bits + 7) // 8 - 1).bit_length() if bits <= 64 else (bits + 63) // 64 * 8
            return Type(text, "int", size, min(size, 16), bits)
        if text in _FLOAT_BYTES:
            size = _FLOAT_BYTES[text]
            return Type(text, "float", size, size)
        if text == "ptr" or text.startswith("ptr addrspace"):
            return POINTER
        if text.startswith("%"):
            body = self._named.get(text)
            return self._read(body, depth + 1) if body is not None else OTHER
        if text.startswith("<{") and text.endswith("}>"):
            return self._struct(text, text[2:-2], True, depth)
        if text.startswith("{") and text.endswith("}"):
            return self._struct(text, text[1:-1], False, depth)
        if text[:1] in ("[", "<") and " x " in text:
            count, _, element = text[1:-1].partition(" x ")
            if not count.strip().isdigit():
                return OTHER
            inner, n = self._read(element, depth + 1), int(count)
            if text[0] == "[":
                return Type(text, "array", inner.size * n, inner.align, count=n, members=(inner,))
            size = (inner.bits * n + 7) // 8 if inner.kind == "int" else inner.size * n
            aligned = 1 << max(0, size - 1).bit_length()
            return Type(text, "vector", aligned, aligned, count=n, members=(inner,))
        return OTHER

    def _struct(self, text: str, body: str, packed: bool, depth: int) -> Type:
        members = tuple(self._read(part, depth + 1) for part in split_list(body))
        offsets: list[int] = []
        end, align = 0, 1
        for member in members:
            step = 1 if packed else max(1, member.align)
            end = -(-end // step) * step
            offsets.append(end)
            end += member.size
            align = max(align, step)
        return Type(text, "struct", -(-end // align) * align, align, members=members, offsets=tuple(offsets))


_OPEN, _CLOSE = "([{<", ")]}>"
_BRACKETS = re.compile(r"[(\[{<\"]")


def split_list(text: str) -> list[str]:
    """The parts between the commas that stand in no bracket and no string."""
    if not _BRACKETS.search(text):
        return [part.strip() for part in text.split(",")] if text.strip() else []
    parts: list[str] = []
    depth, start, quoted = 0, 0, False
    for i, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last or parts else []


def leading_type(text: str) -> tuple[str, str]:
    """(type, rest) of a text that begins with a type."""
    text = text.lstrip()
    if not text:
        return "", ""
    if text[0] in "[{<":
        depth, quoted = 0, False
        for i, character in enumerate(text):
            if character == '"':
                quoted = not quoted
            elif quoted:
                continue
            elif character in "[{<(":
                depth += 1
            elif character in "]}>)":
                depth -= 1
                if depth == 0:
                    return text[: i + 1], text[i + 1 :].lstrip()
        return text, ""
    if text[0] == "%" and text[1:2] == '"':
        end = text.find('"', 2)
        return (text[: end + 1], text[end + 1 :].lstrip()) if end > 0 else (text, "")
    word, _, rest = text.partition(" ")
    if word == "ptr" and rest.startswith("addrspace("):
        space, _, rest = rest.partition(")")
        return f"ptr {space})", rest.lstrip()
    return word, rest.lstrip()
