"""Entries of the ledger and the chain of hashes that ties each to all before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kfp.errors import LedgerError, ResultFormatError
from kfp.records import Record

Kind: TypeAlias = Literal["look", "refusal"]
# Of a ledger without entries.
ORIGIN = hashlib.sha256(b"kfp ledger 1").hexdigest()


@dataclass(frozen=True, eq=False)
class Entry(Record):
    """One look at held-out information, or one that was refused.

    ``candidate`` is the hash of a kernel's source; ``look`` identifies the look, so that one that was interrupted and
    goes on is the same one. ``released`` is what the asker was told, None for nothing; ``bits`` how much that says at
    most. ``previous`` and ``digest`` chain the entries.
    """

    number: int
    time: str
    kind: Kind
    run: str
    candidate: str
    look: str
    configurations: tuple[str, ...]
    purpose: str
    policy: str
    bits: float
    released: float | None
    reason: str
    previous: str
    digest: str

    def computed_digest(self) -> str:
        content = {name: value for name, value in self.to_json().items() if name != "digest"}
        return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def line_of(entry: Entry) -> str:
    return json.dumps(entry.to_json(), ensure_ascii=False, allow_nan=False) + "\n"


def parse(text: str, where: str) -> tuple[Entry, ...]:
    """The entries of a ledger. Raises ``kfp.LedgerError`` that names the first line that does not belong there."""
    entries: list[Entry] = []
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        place = f"{where}, line {number}"
        try:
            entry = Entry.from_json(json.loads(line))
        except (ValueError, ResultFormatError) as error:
            raise LedgerError(f"{place}: not an entry as it was written: {error}") from None
        _require_link(entry, entries, place)
        entries.append(entry)
    return tuple(entries)


def _require_link(entry: Entry, before: Sequence[Entry], place: str) -> None:
    expected = before[-1].digest if before else ORIGIN
    if entry.number != len(before) + 1:
        raise LedgerError(f"{place}: expected entry {len(before) + 1}, it is entry {entry.number}: entries are missing")
    if entry.previous != expected:
        raise LedgerError(f"{place}: it does not follow the entry before it: the ledger has been changed")
    if entry.digest != entry.computed_digest():
        raise LedgerError(f"{place}: its content is not what was written: the ledger has been changed")
