"""Code that counts, put into the intermediate code of a program: how often each condition came out which way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kfp.auditing.program.instructions import Instruction
from kfp.auditing.program.module import Function, Module
from kfp.auditing.program.source_map import PROGRAM

# Of kfp_runtime::counters (cpp/msl/include/kfp_abi.h).
_COUNTERS_OFFSET = 24
MOST_COUNTERS = 1 << 16
# What the ids of counted arms have between the kernel and their number.
COUNTED = "counted"
# Larger tables and switches aren't counted entry by entry.
_MOST_ENTRIES = 64
_TABLE = re.compile(r"\[(\d+) x ")


@dataclass(frozen=True)
class Counted:
    """``sides`` name what the counters from number ``first`` on count."""

    function: str
    instruction: Instruction
    kind: str
    first: int
    sides: tuple[str, ...]


@dataclass(frozen=True)
class CountingProgram:
    text: str
    counted: tuple[Counted, ...]

    @property
    def counters(self) -> int:
        return sum(len(one.sides) for one in self.counted)


def with_counters(module: Module) -> CountingProgram:
    """The program with counters at every condition, switch and table that stands in the user's own text."""
    before: dict[int, list[str]] = {}
    after: dict[int, list[str]] = {}
    counted: list[Counted] = []
    total = 0
    for function in module.functions.values():
        if not _is_users(module, function):
            continue
        counts = False
        for instruction, kind, sides in _conditions(module, function):
            if total + len(sides) > MOST_COUNTERS:
                break
            lines = _counting(instruction, kind, total, len(counted))
            (after if _is_after(kind) else before).setdefault(instruction.line, []).extend(lines)
            counted.append(Counted(function.name, instruction, kind, total, sides))
            total += len(sides)
            counts = True
        if counts:
            first = next(iter(function.blocks.values())).instructions[0].line
            before.setdefault(first, [])[:0] = _base()
    text: list[str] = []
    for number, line in enumerate(module.text.split("\n")):
        text += before.get(number, ())
        text.append(line)
        text += after.get(number, ())
    text.append("@__kfp_runtime = external global ptr, align 8\n")
    return CountingProgram("\n".join(text), tuple(counted))


def _is_users(module: Module, function: Function) -> bool:
    return (
        not function.name.startswith(("__kfp_thread_", "__kfp_group_"))
        and bool(function.blocks)
        and module.file_of(function.place) == PROGRAM
    )


def _is_after(kind: str) -> bool:
    return kind in ("comparison", "table")


def _conditions(module: Module, function: Function) -> Iterator[tuple[Instruction, str, tuple[str, ...]]]:
    definitions = {one.name: one for one in function.instructions() if one.name}
    truth = ("false", "true")
    for instruction in function.instructions():
        opcode = instruction.opcode
        if opcode in ("icmp", "fcmp") and module.type(instruction.type).kind != "vector":
            yield instruction, "comparison", truth
        elif opcode in ("br", "select") and instruction.operands:
            scalar = opcode == "br" or instruction.detail == "i1"
            asked = definitions.get(instruction.operands[0])
            if scalar and asked is not None and asked.opcode not in ("icmp", "fcmp"):
                yield instruction, "choice", truth
        elif opcode == "switch" and 2 <= len(instruction.operands) <= _MOST_ENTRIES:
            yield instruction, "switch", ("default", *(f"case {value}" for value in instruction.operands[1:]))
        elif opcode == "getelementptr" and instruction.operands[0].startswith("@"):
            sides = _entries(module, instruction)
            if sides:
                yield instruction, "table", sides


def _entries(module: Module, instruction: Instruction) -> tuple[str, ...]:
    table = module.globals.get(instruction.operands[0])
    match = _TABLE.match(instruction.detail)
    index = instruction.operands[-1]
    if table is None or match is None or not index.startswith("%") or len(instruction.operands) != 3:
        return ()
    count = int(match[1])
    return tuple(f"entry {i}" for i in range(count)) if 2 <= count <= _MOST_ENTRIES else ()


def _base() -> list[str]:
    return [
        "  %kfp.runtime = load ptr, ptr @__kfp_runtime, align 8",
        f"  %kfp.field = getelementptr inbounds i8, ptr %kfp.runtime, i64 {_COUNTERS_OFFSET}",
        "  %kfp.counters = load ptr, ptr %kfp.field, align 8",
    ]


def _counting(instruction: Instruction, kind: str, first: int, number: int) -> list[str]:
    name = f"%kfp.{number}"
    if kind == "comparison":
        lines = [f"  {name}.which = zext i1 {instruction.name} to i64"]
    elif kind == "choice":
        lines = [f"  {name}.which = zext i1 {instruction.operands[0]} to i64"]
    elif kind == "switch":
        lines = _case_number(instruction, name)
    else:
        index, count = instruction.operands[-1], int((_TABLE.match(instruction.detail) or ["", "1"])[1])
        lines = [
            f"  {name}.inside = icmp ult i64 {index}, {count}",
            f"  {name}.which = select i1 {name}.inside, i64 {index}, i64 0",
        ]
    return [
        *lines,
        f"  {name}.index = add i64 {name}.which, {first}",
        f"  {name}.place = getelementptr inbounds i64, ptr %kfp.counters, i64 {name}.index",
        f"  {name}.old = load i64, ptr {name}.place, align 8",
        f"  {name}.new = add i64 {name}.old, 1",
        f"  store i64 {name}.new, ptr {name}.place, align 8",
    ]


def _case_number(switch: Instruction, name: str) -> list[str]:
    lines, found = [], "0"
    for number, case in enumerate(switch.operands[1:], start=1):
        lines.append(f"  {name}.is.{number} = icmp eq {switch.type} {switch.operands[0]}, {case}")
        lines.append(f"  {name}.or.{number} = select i1 {name}.is.{number}, i64 {number}, i64 {found}")
        found = f"{name}.or.{number}"
    return [*lines, f"  {name}.which = add i64 {found}, 0"]


def reachable(module: Module, function: str) -> set[str]:
    """The functions that may run when this one is called."""
    seen, pending = {function}, [function]
    while pending:
        current = module.functions.get(pending.pop())
        if current is None:
            continue
        for callee in _callees(current):
            if callee not in seen:
                seen.add(callee)
                pending.append(callee)
    return seen


def _callees(function: Function) -> Sequence[str]:
    return [
        operand.lstrip("@").strip('"')
        for one in function.instructions()
        for operand in (one.detail if one.opcode == "call" else "", *one.operands)
        if operand.startswith("@")
    ]
