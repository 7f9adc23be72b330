"""Expressions of a program as it was written, in the names that its author gave."""

from __future__ import annotations

import re
import struct

from kfp.auditing.program.instructions import Instruction
from kfp.auditing.program.module import Function
from kfp.auditing.program.opcodes import BINARY, RELATIONS, SILENT

LONGEST = 160
_DEEPEST = 10
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_DIGITS = re.compile(r"\d+")
# How our headers read a component of a vector.
_COMPONENT = re.compile(r"__get_(\w+)$")


class Wording:
    """Of the expressions of one function."""

    def __init__(self, function: Function) -> None:
        self._definitions = {one.name: one for one in function.instructions() if one.name}
        self._blocks = function.blocks

    def condition(self, operand: str, holds: bool) -> str:
        found = self._definitions.get(operand)
        if found is not None and found.opcode in ("icmp", "fcmp"):
            name = found.detail if found.detail in ("eq", "ne") else found.detail[1:]
            if name in RELATIONS:
                sign = RELATIONS[name] if holds else _OPPOSITE[RELATIONS[name]]
                text = f"{self._value(found.operands[0], 0)} {sign} {self._value(found.operands[1], 0)}"
                return text[:LONGEST]
        text = self.value(operand)
        return text if holds else f"!({text})"

    def value(self, operand: str) -> str:
        return self._value(operand, 0)[:LONGEST]

    def _value(self, operand: str, depth: int) -> str:
        found = self._definitions.get(operand)
        if found is None:
            if operand.startswith("@"):
                return plain_name(operand)
            return _number(operand) or operand.strip('%"').removesuffix(".addr")
        if depth > _DEEPEST:
            return "…"
        opcode, operands = found.opcode, found.operands
        if opcode == "load":
            return self._loaded(operands[0], depth)
        if opcode in SILENT:
            return self._value(operands[0], depth + 1)
        if opcode in BINARY:
            return f"({self._value(operands[0], depth + 1)} {BINARY[opcode]} {self._value(operands[1], depth + 1)})"
        if opcode in ("icmp", "fcmp"):
            return f"({self.condition(operand, True)})" if depth < 4 else "…"
        if opcode == "getelementptr":
            return self._element(found, depth)
        if opcode == "alloca":
            return self._loaded(operand, depth)
        if opcode == "call" and "__get_" in found.detail:
            return f"{self._value(operands[0], depth + 1)}.{plain_name(found.detail)}"
        if opcode == "call":
            arguments = ", ".join(self._value(one, depth + 1) for one in operands)
            return f"{plain_name(found.detail)}({arguments})"
        if opcode == "phi" and found.type == "i1":
            return self._junction(found, depth)
        if opcode == "extractelement" and operands[1] in ("0", "1", "2", "3"):
            return f"{self._value(operands[0], depth + 1)}.{'xyzw'[int(operands[1])]}"
        return "…"

    def _junction(self, phi: Instruction, depth: int) -> str:
        """``a && b`` or ``a || b``, of which the second is computed only where the first doesn't decide."""
        early = {value for value in phi.operands if value in ("true", "false")}
        late = [value for value in phi.operands if value not in early]
        if len(early) != 1 or len(late) != 1 or depth > 4:
            return "…"
        conditions = []
        for value, label in zip(phi.operands, phi.labels, strict=False):
            block = self._blocks.get(label)
            last = block.instructions[-1] if block is not None and block.instructions else None
            if value in early and (last is None or len(last.operands) != 1):
                return "…"
            asked = last.operands[0] if value in early and last is not None else value
            conditions.append(self._truth(asked, depth + 1))
        return f"({(' && ' if early == {'false'} else ' || ').join(conditions)})"

    def _truth(self, operand: str, depth: int) -> str:
        found = self._definitions.get(operand)
        return (
            self.condition(operand, True)
            if found is not None and found.opcode in ("icmp", "fcmp")
            else self._value(operand, depth)
        )

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


def _number(operand: str) -> str:
    """A real number, which the compiler writes as bits where a decimal fraction would be inexact."""
    if not re.fullmatch(r"0x[0-9A-F]{16}", operand):
        return ""
    return f"{struct.unpack('>d', bytes.fromhex(operand[2:]))[0]:g}"


def plain_name(mangled: str) -> str:
    """The last part of a function's name as it was written (Itanium C++ ABI, 5.1)."""
    text = mangled.strip('@"')
    if not text.startswith("_Z"):
        return text
    name, depth, at = "", 0, 2
    nested = text[2:3] == "N"
    at += nested
    while at < len(text):
        digits = _DIGITS.match(text, at)
        if digits is not None:
            at = digits.end() + int(digits[0])
            if depth == 0:
                name = text[digits.end() : at]
                if not nested:
                    break
        elif text[at] == "L" and depth and not text[at + 1 : at + 2].isdigit():
            # A literal among the arguments of a template.
            at = max(text.find("E", at), at) + 1
        else:
            depth += (text[at] in "IN") - (text[at] == "E")
            at += 1
            if depth < 0:
                break
    component = _COMPONENT.match(name)
    return component[1] if component else name or text
