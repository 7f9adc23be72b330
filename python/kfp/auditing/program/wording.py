"""Expressions of a program as it was written, in the names that its author gave."""

from __future__ import annotations

import re

from kfp.auditing.program.module import Function, Instruction

LONGEST = 160
_DEEPEST = 10
_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "udiv": "/", "sdiv": "/", "urem": "%", "srem": "%", "shl": "<<", "lshr": ">>",
    "ashr": ">>", "and": "&", "or": "|", "xor": "^", "fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/", "frem": "%",
}  # fmt: skip
_RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_SILENT = frozenset(
    [
        "trunc",
        "zext",
        "sext",
        "freeze",
        "bitcast",
        "fpext",
        "fptrunc",
        "uitofp",
        "sitofp",
        "fptoui",
        "fptosi",
        "addrspacecast",
    ]
)
_MANGLED = re.compile(r"@?_ZN?L?(?:K|U\d+)?((?:\d+\w*)+)")


class Wording:
    """Of the expressions of one function."""

    def __init__(self, function: Function) -> None:
        self._definitions = {one.name: one for one in function.instructions() if one.name}

    def condition(self, operand: str, holds: bool) -> str:
        found = self._definitions.get(operand)
        if found is not None and found.opcode in ("icmp", "fcmp"):
            name = found.detail if found.detail in ("eq", "ne") else found.detail[1:]
            if name in _RELATIONS:
                sign = _RELATIONS[name] if holds else _OPPOSITE[_RELATIONS[name]]
                text = f"{self._value(found.operands[0], 0)} {sign} {self._value(found.operands[1], 0)}"
                return text[:LONGEST]
        text = self.value(operand)
        return text if holds else f"!({text})"

    def value(self, operand: str) -> str:
        return self._value(operand, 0)[:LONGEST]

    def _value(self, operand: str, depth: int) -> str:
        found = self._definitions.get(operand)
        if found is None:
            return operand.strip('%@"').removesuffix(".addr")
        if depth > _DEEPEST:
            return "…"
        opcode, operands = found.opcode, found.operands
        if opcode == "load":
            return self._loaded(operands[0], depth)
        if opcode in _SILENT:
            return self._value(operands[0], depth + 1)
        if opcode in _OPERATORS:
            return f"({self._value(operands[0], depth + 1)} {_OPERATORS[opcode]} {self._value(operands[1], depth + 1)})"
        if opcode in ("icmp", "fcmp"):
            return f"({self.condition(operand, True)})" if depth < 4 else "…"
        if opcode == "getelementptr":
            return self._element(found, depth)
        if opcode == "call":
            arguments = ", ".join(self._value(one, depth + 1) for one in operands)
            return f"{plain_name(found.detail)}({arguments})"
        if opcode == "extractelement" and operands[1] in ("0", "1", "2", "3"):
            return f"{self._value(operands[0], depth + 1)}.{'xyzw'[int(operands[1])]}"
        return "…"

    def _loaded(self, pointer: str, depth: int) -> str:
        found = self._definitions.get(pointer)
        if found is not None and found.opcode == "alloca":
            return (
                re.sub(r"\d+$", "", pointer.strip('%"').removesuffix(".addr"))
                if ".addr" not in pointer
                else (pointer.strip('%"').partition(".addr")[0])
            )
        return self._value(pointer, depth + 1)

    def _element(self, found: Instruction, depth: int) -> str:
        base = self._loaded(found.operands[0], depth)
        index = found.operands[-1]
        if found.detail.startswith('%"struct') or found.detail.startswith("%struct"):
            return f"{base}.{found.name.strip('%')}"
        return f"{base}[{self._value(index, depth + 1)}]"


def plain_name(mangled: str) -> str:
    """The last part of a function's name as it was written."""
    match = _MANGLED.match(mangled)
    if match is None:
        return mangled.strip('@"')
    rest, name = match[1], ""
    while rest[:1].isdigit():
        digits = re.match(r"\d+", rest)
        if digits is None:
            break
        length = int(digits[0])
        name, rest = rest[digits.end() : digits.end() + length], rest[digits.end() + length :]
    return name or mangled.strip('@"')
