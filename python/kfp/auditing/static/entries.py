"""Edits of the entries of a constant table, after which it gives what it gives elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from kfp.auditing.program.source_map import SourceMap
from kfp.auditing.static.editing import Edit, Insertion, Source, spellings

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_MOST_OTHERS = 3
_LONGEST_TABLE = 20000


def entry_edits(
    source: Source, source_map: SourceMap, table: str, is_wanted: Callable[[str, str], bool]
) -> Iterator[Edit]:
    """``is_wanted`` is asked with the text of an entry and that of the most frequent one; see ``entry_edit``."""
    entries = _entries(source_map, table)
    texts = [_text(source_map, entry) for entry in entries]
    usual = Counter(texts).most_common(1)[0][0] if texts else ""
    yield from _edits(source, source_map, entries, [n for n, text in enumerate(texts) if is_wanted(text, usual)])


def entry_edit(source: Source, source_map: SourceMap, table: str, number: int) -> Iterator[Edit]:
    """The entry of this number gets the value of another one, the most frequent value first."""
    yield from _edits(source, source_map, _entries(source_map, table), [number])


def _edits(source: Source, source_map: SourceMap, entries: Sequence[range], wanted: Sequence[int]) -> Iterator[Edit]:
    texts = [_text(source_map, entry) for entry in entries]
    own = {texts[number] for number in wanted if number < len(texts)}
    others = Counter(text for text in texts if text not in own)
    for text, _ in others.most_common(_MOST_OTHERS):
        edits = [_replaced(source, source_map, entries[number], text) for number in wanted if number < len(entries)]
        if edits and all(edits):
            yield tuple(one for edit in edits if edit for one in edit)


def _text(source_map: SourceMap, entry: range) -> str:
    return " ".join(source_map.tokens[index].text for index in entry)


def _entries(source_map: SourceMap, table: str) -> list[range]:
    """The tokens of each entry, where the table is a list of plain values that is written out."""
    tokens = source_map.tokens
    for index in range(len(tokens) - 1):
        if tokens[index].text != table or tokens[index + 1].text != "[":
            continue
        opening = _behind(source_map, index + 1)
        if opening < len(tokens) and tokens[opening].text == "=":
            opening += 1
        if opening < len(tokens) and tokens[opening].text == "{":
            return _listed(source_map, opening)
    return []


def _listed(source_map: SourceMap, opening: int) -> list[range]:
    tokens = source_map.tokens
    found: list[range] = []
    depth, first = 0, opening + 1
    for index in range(opening, min(len(tokens), opening + _LONGEST_TABLE)):
        text = tokens[index].text
        if text in _CLOSING:
            depth -= 1
        if (depth == 1 and text == ",") or depth == 0:
            if index > first:
                found.append(range(first, index))
            first = index + 1
        if text in _OPENING:
            depth += 1
        if depth == 0 and index > opening:
            # Rows of rows are no list of values.
            return [] if any(tokens[entry.start].text == "{" for entry in found) else found
    return []


def _behind(source_map: SourceMap, opening: int) -> int:
    depth = 0
    for index in range(opening, len(source_map.tokens)):
        text = source_map.tokens[index].text
        depth += (text in _OPENING) - (text in _CLOSING)
        if depth == 0:
            return index + 1
    return len(source_map.tokens)


def _replaced(source: Source, source_map: SourceMap, entry: Sequence[int], text: str) -> Edit | None:
    """The value stays in the text, so that nothing else moves."""
    before, after = f"(1 ? {text} : (", "))"
    spelled = next(spellings(source, source_map, entry[0]), None)
    if spelled is None:
        return None
    if any(source_map.tokens[index].origin for index in entry):
        return source.wrapped(spelled[0], before, after)
    last = source_map.tokens[entry[-1]]
    end = source.offset(last.line, last.column)
    if end is None or not source.has(end, last.text):
        return None
    return Insertion(spelled[0], 0, before), Insertion(end + len(last.text.encode()), 0, after)
