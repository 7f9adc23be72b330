"""Tables with room for exactly what was measured."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kfp.auditing.program.translation import Translation
from kfp.auditing.results import Extent
from kfp.tasks.base import Configuration

# Smaller tables are tiles and vectors.
_SMALLEST = 8
_ARRAY = re.compile(r"\[(\d+) x ")
_ALLOCATED = re.compile(r"^  %([\w.]+) = alloca (\[[^,]*\])", re.MULTILINE)
_ELEMENT_BYTES = (4, 2, 1, 8, 16)


def find_extents(
    candidate: Translation, seed: Translation | None, measured: Sequence[Configuration]
) -> Iterator[Extent]:
    """Tables in thread or threadgroup memory with as many elements as a parameter's largest measured value, or as the
    product of two such; those of the seed left out.
    """
    maxima = _maxima(measured)
    known = {sizes for _, sizes in _tables(seed)} if seed is not None else set()
    for token, sizes in _tables(candidate):
        if sizes in known:
            continue
        for elements in sizes:
            if elements in maxima:
                yield Extent(candidate.map.location(token), elements, maxima[elements], elements)
                break


def _maxima(measured: Sequence[Configuration]) -> dict[int, str]:
    largest: dict[str, int] = {}
    for configuration in measured:
        for name, value in configuration.parameters.items():
            if value == int(value) and value >= _SMALLEST:
                largest[name] = max(largest.get(name, 0), int(value))
    found = {value: name for name, value in reversed(largest.items())}
    for one in largest:
        for two in largest:
            if one < two:
                found.setdefault(largest[one] * largest[two], f"{one} * {two}")
    for name, value in largest.items():
        for beside in (value + 1, value + 2, value - 1):
            found.setdefault(beside, name)
    return found


def _tables(translation: Translation) -> Iterator[tuple[int | None, tuple[int, ...]]]:
    """(token of the name, possible numbers of elements) of every table."""
    for token, size in translation.threadgroup_arrays:
        counts = _declared(translation, token)
        yield token, counts or tuple(size // element for element in _ELEMENT_BYTES if size % element == 0)
    names: dict[str, int] = {}
    for number, one in enumerate(translation.map.tokens):
        names.setdefault(one.text, number)
    for name, kind in _ALLOCATED.findall(translation.text):
        counts = tuple(int(count) for count in _ARRAY.findall(kind))
        yield names.get(name, names.get(re.sub(r"\d+$", "", name))), _with_product(counts)


def _declared(translation: Translation, token: int | None) -> tuple[int, ...]:
    """The literal bounds behind the name of an array."""
    if token is None:
        return ()
    counts = []
    tokens = translation.map.tokens
    at = token + 1
    while at + 2 < len(tokens) and tokens[at].text == "[" and tokens[at + 2].text == "]":
        if not tokens[at + 1].text.isdigit():
            return ()
        counts.append(int(tokens[at + 1].text))
        at += 3
    return _with_product(tuple(counts))


def _with_product(counts: tuple[int, ...]) -> tuple[int, ...]:
    product = 1
    for count in counts:
        product *= count
    return counts if len(counts) < 2 else (*counts, product)
