"""Which comparisons of the source must have one outcome for good, for a condition of several never to hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from kfp.auditing.program.instructions import Instruction
from kfp.auditing.program.source_map import SourceMap
from kfp.auditing.program.translation import Translation
from kfp.auditing.static import values
from kfp.auditing.static.flow import KernelCode
from kfp.auditing.static.polarity import forced_by
from kfp.auditing.static.predicates import Predicate, Side
from kfp.auditing.static.text import integer, interval_of

_DEEPEST = 12
_MOST_WAYS = 4
_MOST_ATOMS = 24
# So many calls away from the statement.
_CALLS_DEEP = 3


@dataclass(frozen=True)
class Atom:
    """A comparison of the optimised program and the outcome that it must never have; or, without a comparison, a value
    that the subject of a switch must never have.
    """

    found: Instruction | None
    holds: bool
    case: int = 0


@dataclass(frozen=True)
class Written:
    """A comparison as it stands in the source, and what it must always be."""

    token: int
    always: bool


def ways_to_close(
    translation: Translation, code: KernelCode, predicate: Predicate, side: Side, tokens: Sequence[int]
) -> Iterator[tuple[Written, ...]]:
    """Sets of comparisons, each of which closes this side of a predicate. They are looked for in the statements around
    ``tokens``, and in the functions that those call.
    """
    near = _near(translation, tokens)
    for atoms in islice(_ways(code, predicate, side), _MOST_WAYS):
        written = [_written(translation, code, atom, near) for atom in atoms]
        if not all(written):
            written = [_as_many(translation, atoms, near)]
        if written and all(written):
            yield tuple(dict.fromkeys(one for each in written for one in each))


def statement(source_map: SourceMap, token: int) -> range:
    """The tokens of the statement around one, or of the part of it that is near."""
    tokens = source_map.tokens
    first = last = token
    while first > 0 and token - first < 200 and tokens[first - 1].text not in (";", "{", "}"):
        first -= 1
    while last + 1 < len(tokens) and last - token < 200 and tokens[last + 1].text not in (";", "{", "}"):
        last += 1
    return range(first, last + 1)


def _near(translation: Translation, tokens: Sequence[int]) -> list[range]:
    listed = translation.map.tokens
    bodies = dict(translation.bodies)
    found = [statement(translation.map, token) for token in tokens]
    for _ in range(_CALLS_DEEP):
        called = {listed[index].text for part in found for index in part}.intersection(bodies)
        found += [bodies.pop(name) for name in sorted(called)]
    return found


def _ways(code: KernelCode, predicate: Predicate, side: Side) -> Iterator[tuple[Atom, ...]]:
    if predicate.kind == "condition":
        yield from _never(code, predicate.operand, side.name == "true", 0)
    elif predicate.kind == "switch" and 0 < len(side.cases) <= _MOST_ATOMS:
        yield tuple(Atom(None, True, case) for case in side.cases)


def _never(code: KernelCode, operand: str, holds: bool, depth: int) -> Iterator[tuple[Atom, ...]]:
    """The ways for a truth never to be ``holds``."""
    found = code.definitions.get(operand)
    if found is None or depth > _DEEPEST:
        return
    if found.opcode in ("icmp", "fcmp"):
        yield (Atom(found, holds),)
    elif found.opcode == "freeze":
        yield from _never(code, found.operands[0], holds, depth + 1)
    elif found.opcode == "xor" and found.operands[1] in ("true", "-1"):
        yield from _never(code, found.operands[0], not holds, depth + 1)
    else:
        for parts, together in _junction(found, holds):
            ways = [list(islice(_never(code, one, outcome, depth + 1), _MOST_WAYS)) for one, outcome in parts]
            if together:
                for each in islice(product(*ways), _MOST_WAYS):
                    merged = tuple(dict.fromkeys(atom for way in each for atom in way))
                    if len(merged) <= _MOST_ATOMS:
                        yield merged
            else:
                for listed in ways:
                    yield from listed


def _junction(found: Instruction, holds: bool) -> Iterator[tuple[list[tuple[str, bool]], bool]]:
    """(parts with the outcomes of theirs, whether all of them must be closed)."""
    if found.opcode in ("and", "or"):
        yield [(one, holds) for one in found.operands], (found.opcode == "or") == holds
        return
    if found.opcode != "select":
        return
    condition, yes, no = found.operands
    if no == "false":
        yield [(condition, holds), (yes, holds)], not holds
    elif yes == "true":
        yield [(condition, holds), (no, holds)], holds
    elif yes == "false":
        yield [(condition, not holds), (no, holds)], not holds
    elif no == "true":
        yield [(condition, not holds), (yes, holds)], holds


def _written(translation: Translation, code: KernelCode, atom: Atom, near: Sequence[range]) -> tuple[Written, ...]:
    """The comparisons of the source that an atom was made of."""
    own = set(translation.map.frames(code.module, atom.found.place)) if atom.found is not None else set()
    found: list[tuple[int, Written]] = []
    for token, one in translation.comparisons:
        rank = -1 if token in own else next((i for i, part in enumerate(near) if token in part), None)
        always = None if rank is None else _always(translation, code, atom, one, token in own)
        if rank is not None and always is not None:
            found.append((rank, Written(token, always)))
    # What stands closest; elsewhere the same may be asked for another reason.
    closest = min((rank for rank, _ in found), default=0)
    return tuple(dict.fromkeys(one for rank, one in found if rank == closest))


def _always(translation: Translation, code: KernelCode, atom: Atom, written: Instruction, is_own: bool) -> bool | None:
    bits = translation.program.type(written.type).bits
    literals = [integer(one, bits) for one in written.operands if bits]
    literal = next((one for one in literals if one is not None), None)
    if atom.found is None:
        same = literal is not None and literal == atom.case & values.mask(bits)
        return None if not same or written.detail not in ("eq", "ne") else written.detail == "ne"
    if not is_own and not _same_literal(code, atom.found, written, literal):
        return None
    return forced_by(translation, code, atom.found, atom.holds, written)


def _as_many(translation: Translation, atoms: Sequence[Atom], near: Sequence[range]) -> tuple[Written, ...]:
    """For equalities whose literals the optimiser has changed: those of the statement, if there are as many."""
    if any(atom.found is not None and atom.found.detail not in ("eq", "ne") for atom in atoms):
        return ()
    found = {
        token: Written(token, one.detail == "ne")
        for token, one in translation.comparisons
        if near and token in near[0] and one.detail in ("eq", "ne") and any(not o.startswith("%") for o in one.operands)
    }
    polarity = all(atom.found is None or (atom.found.detail == "eq") == atom.holds for atom in atoms)
    return tuple(found.values()) if polarity and len(found) == len(atoms) else ()


def _same_literal(code: KernelCode, found: Instruction, written: Instruction, literal: int | None) -> bool:
    """Whether the literal of a comparison is, but for one more or less, what the optimised one compares with."""
    if found.opcode == "fcmp":
        return bool({one for one in found.operands if not one.startswith("%")}.intersection(written.operands))
    bits = code.module.type(found.type).bits
    interval = interval_of(code, found)
    bounds: Iterable[int | None] = interval if interval is not None else [integer(one, bits) for one in found.operands]
    exact = found.detail in ("eq", "ne")
    return literal is not None and any(
        bound is not None and abs(bound - literal) <= (0 if exact else 1) for bound in bounds
    )
