"""Conditions on the configuration that can't be evaluated here because a loop computes them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

from kfp.auditing.program.instructions import Instruction
from kfp.auditing.static.flow import NOTHING, KernelCode, Support, address

_MOST_ROUNDS = 8


class Opaque(NamedTuple):
    """``key``: alike for alike conditions of two programs."""

    place: int
    parameters: tuple[str, ...]
    key: Hashable


def opaque_conditions(code: KernelCode) -> Iterator[Opaque]:
    """Truths that depend on nothing but the configuration, once what loops carry along is followed as well, and that
    decide more than how often the loop runs.
    """
    wide = _through_loops(code)
    for block in code.order:
        for found in block.instructions:
            if found.opcode not in ("icmp", "fcmp") or code.support.get(found.name, None) is not None:
                continue
            support = wide.get(found.name)
            if support and any(not _leaves_a_loop(code, user) for user in code.users.get(found.name, ())):
                literals = tuple(one for one in found.operands if not one.startswith("%"))
                parameters = tuple(sorted(support))
                yield Opaque(found.place, parameters, (parameters, found.detail, literals))


def _through_loops(code: KernelCode) -> dict[str, Support]:
    wide = dict(code.support)
    names = [one for block in code.order for one in block.instructions if one.name and wide.get(one.name) is None]
    tables = _PrivateTables(code)
    followed = [one for one in names if _is_followed(code, one) or tables.table_of(one) is not None]
    # Optimistic: what a loop carries depends on nothing until something that it is made of does.
    wide.update({one.name: NOTHING for one in followed})
    for _ in range(_MOST_ROUNDS):
        changed = False
        held = tables.supports(wide)
        for one in followed:
            total = _union(wide, one.operands)
            table = tables.table_of(one)
            if table is not None and total is not None:
                inside = held[table]
                total = None if inside is None else total | inside
            if total != wide[one.name]:
                wide[one.name] = total
                changed = True
        if not changed:
            return wide
    return {}


def _union(wide: dict[str, Support], operands: Iterable[str]) -> Support:
    total: Support = NOTHING
    for operand in operands:
        part = wide.get(operand, NOTHING) if operand.startswith("%") else NOTHING
        total = None if part is None or total is None else total | part
    return total


def _is_followed(code: KernelCode, one: Instruction) -> bool:
    if one.opcode == "load":
        place = address(code, one.operands[0])
        known = code.module.globals.get(str(place.index)) if place and place.space == "global" else None
        return known is not None and known.constant
    if one.opcode == "call":
        return one.detail.startswith("@llvm.")
    return one.opcode not in ("atomicrmw", "cmpxchg", "store")


class _PrivateTables:
    """Tables in a thread's own memory that are read and written by index only."""

    def __init__(self, code: KernelCode) -> None:
        self._base: dict[str, str] = {}
        self._stored: dict[str, list[tuple[str, ...]]] = {}
        self._lost: set[str] = set()
        everything = [one for block in code.order for one in block.instructions]
        for one in everything:
            if one.opcode == "alloca":
                self._base[one.name] = one.name
                self._stored[one.name] = []
            elif one.opcode == "getelementptr" and one.operands[0] in self._base:
                self._base[one.name] = self._base[one.operands[0]]
        for one in everything:
            self._use(one)

    def _use(self, one: Instruction) -> None:
        tables = [self._base[operand] for operand in one.operands if operand in self._base]
        if not tables or one.opcode in ("getelementptr", "load"):
            return
        if one.opcode == "store" and one.operands[0] not in self._base:
            self._stored[tables[0]].append(one.operands)
        elif not _is_harmless(one):
            self._lost.update(tables)

    def table_of(self, one: Instruction) -> str | None:
        table = self._base.get(one.operands[0]) if one.opcode == "load" else None
        return None if table in self._lost else table

    def supports(self, wide: dict[str, Support]) -> dict[str, Support]:
        return {table: _union(wide, [one for stored in all_ for one in stored]) for table, all_ in self._stored.items()}


def _is_harmless(one: Instruction) -> bool:
    """Whether a table depends on no more after this call of the compiler's own."""
    if one.detail.startswith("@llvm.memcpy"):
        return one.operands[1].startswith("@")
    return one.detail.startswith(("@llvm.lifetime", "@llvm.memset"))


def _leaves_a_loop(code: KernelCode, user: Instruction) -> bool:
    """Whether the user is a branch one way of which leads back to a block that comes before it."""
    if user.opcode != "br" or len(user.labels) != 2:
        return False
    here = code.rank.get(code.block_of(user), 0)
    reach = [_leads_back(code, label, here) for label in user.labels]
    return reach[0] != reach[1]


def _leads_back(code: KernelCode, label: str, here: int) -> bool:
    pending, seen = [label], {label}
    while pending and len(seen) < 400:
        name = pending.pop()
        if code.rank.get(name, here + 1) <= here:
            return True
        for target in code.function.blocks[name].targets:
            if target not in seen and target in code.function.blocks:
                seen.add(target)
                pending.append(target)
    return False
