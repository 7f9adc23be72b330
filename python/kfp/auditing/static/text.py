"""Expressions of the intermediate code as text: in the user's names for a reader, in canonical form for comparison."""

from __future__ import annotations

import hashlib
import re

from kfp.auditing.program.instructions import Instruction
from kfp.auditing.program.opcodes import BINARY, RELATIONS, SILENT
from kfp.auditing.program.wording import plain_name
from kfp.auditing.static import values
from kfp.auditing.static.flow import KernelCode, address, reloaded
from kfp.auditing.static.launch import geometry_name

LONGEST = 160
_DEEPEST = 12
_COMMUTATIVE = frozenset(("add", "mul", "and", "or", "xor", "fadd", "fmul"))
_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def condition(code: KernelCode, operand: str, holds: bool = True) -> str:
    """The condition that a value of type i1 stands for, or its opposite, for a reader."""
    return clipped(_Printer(code).truth(operand, holds, 0))


def expression(code: KernelCode, operand: str) -> str:
    return clipped(_Printer(code).value(operand, 0))


def clipped(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def relation(predicate: str) -> str:
    """``lt`` of ``ult``, ``slt``, ``olt``."""
    return predicate if predicate in ("eq", "ne") else predicate[1:]


class _Printer:
    def __init__(self, code: KernelCode) -> None:
        self.code = code

    def truth(self, operand: str, holds: bool, depth: int) -> str:
        found = self.code.definitions.get(operand)
        if found is None or depth > _DEEPEST:
            return self.value(operand, depth) if holds else f"!{self.value(operand, depth)}"
        if found.opcode in ("icmp", "fcmp") and relation(found.detail) in RELATIONS:
            return self._comparison(found, holds, depth)
        if found.opcode == "xor" and found.operands[1] in ("true", "-1"):
            return self.truth(found.operands[0], not holds, depth + 1)
        if found.opcode == "freeze":
            return self.truth(found.operands[0], holds, depth + 1)
        if found.opcode in ("and", "or") or (found.opcode == "select" and {"true", "false"} & set(found.operands[1:])):
            both = self._junction(found, holds, depth)
            if both:
                return both
        text = self.value(operand, depth)
        return text if holds else f"!({text})"

    def _junction(self, found: Instruction, holds: bool, depth: int) -> str:
        """``a && b`` and ``a || b``, which a select may stand for."""
        first, second, conjunction = found.operands[0], found.operands[1], found.opcode == "and"
        negated = False
        if found.opcode == "select":
            _, yes, no = found.operands
            if no == "false":
                second, conjunction = yes, True
            elif yes == "true":
                second, conjunction = no, False
            elif yes == "false":
                second, conjunction, negated = no, True, True
            else:
                return ""
        word = " && " if conjunction == holds else " || "
        parts = [self.truth(first, holds != negated, depth + 1), self.truth(second, holds, depth + 1)]
        return word.join(f"({part})" if _other(word) in part else part for part in parts)

    def _comparison(self, found: Instruction, holds: bool, depth: int) -> str:
        name = relation(found.detail)
        name = name if holds else _OPPOSITE[name]
        left, right = found.operands
        between = self._interval(found, name, depth)
        if between:
            return between
        if not left.startswith("%") and right.startswith("%"):
            left, right, name = right, left, _MIRRORED[name]
        sign = found.detail.startswith("s")
        return f"{self.value(left, depth + 1)} {RELATIONS[name]} {self._constant(right, found.type, depth + 1, sign)}"

    def _interval(self, found: Instruction, name: str, depth: int) -> str:
        """``x + c < d`` on unsigned numbers, which is how the compiler asks whether x is between two bounds."""
        interval = interval_of(self.code, found)
        if interval is None:
            return ""
        low, high = interval
        inner = self.value(self.code.definitions[found.operands[0]].operands[0], depth + 1)
        if name in ("lt", "le"):
            return f"{low} <= {inner} && {inner} < {high}"
        return f"{inner} < {low} || {high} <= {inner}"

    def value(self, operand: str, depth: int) -> str:
        found = self.code.definitions.get(operand)
        if found is None:
            return operand if not operand.startswith(("%", "@")) else operand.strip('%@"').removesuffix(".addr")
        if depth > _DEEPEST:
            return "…"
        found = (reloaded(self.code, found) if found.opcode == "phi" else None) or found
        opcode, operands = found.opcode, found.operands
        if opcode == "load":
            return self.leaf(found, depth)
        if opcode in ("icmp", "fcmp"):
            return f"({self.truth(operand, True, depth + 1)})"
        if opcode in SILENT:
            return self.value(operands[0], depth + 1)
        if opcode in BINARY:
            signs = opcode in ("sdiv", "srem", "ashr", "add", "sub", "mul")
            right = self._constant(operands[1], found.type, depth + 1, signs)
            operator = BINARY[opcode]
            if operator == "+" and right.startswith("-") and right[1:].isdigit():
                operator, right = "-", right[1:]
            return f"({self.value(operands[0], depth + 1)} {operator} {right})"
        if opcode == "fneg":
            return f"-{self.value(operands[0], depth + 1)}"
        if opcode == "select":
            yes, no = (self._constant(one, found.type, depth + 1, True) for one in operands[1:3])
            return f"({self.truth(operands[0], True, depth + 1)} ? {yes} : {no})"
        if opcode == "call":
            word = found.detail.removeprefix("@llvm.").partition(".")[0]
            name = {"umin": "min", "smin": "min", "umax": "max", "smax": "max"}.get(word, word)
            return f"{name}({', '.join(self.value(one, depth + 1) for one in operands)})"
        if opcode == "insertelement":
            return f"({', '.join(self._elements(found, depth))})"
        if opcode == "extractelement":
            axis = "xyzw"[int(operands[1])] if operands[1] in ("0", "1", "2", "3") else operands[1]
            return f"{self.value(operands[0], depth + 1)}.{axis}"
        return "…"

    def _elements(self, found: Instruction, depth: int) -> list[str]:
        base = self.code.definitions.get(found.operands[0])
        before = (
            self._elements(base, depth + 1) if base is not None and base.opcode == "insertelement" and depth < 8 else []
        )
        return [*before, self.value(found.operands[1], depth + 1)]

    def _constant(self, operand: str, kind: str, depth: int, sign: bool) -> str:
        """A literal without the minus that the compiler gives to what is unsigned."""
        bits = self.code.module.type(kind).bits
        if re.fullmatch(r"-\d+", operand) and bits and not sign:
            return str(int(operand) & values.mask(bits))
        known = self.code.module.type(kind)
        if known.kind == "float" and not operand.startswith("%"):
            number = values.constant(operand, known)
            return f"{number:g}" if isinstance(number, float) else operand
        return self.value(operand, depth)

    def leaf(self, found: Instruction, depth: int) -> str:
        """What is loaded: a parameter, an element of a buffer, a number of the launch, an entry of a table."""
        pointer = found.operands[0]
        place = address(self.code, pointer)
        if place is None:
            return "…"
        if place.space == "launch":
            return geometry_name(place.offset) or "…" if place.offset is not None else "…"
        name = self.code.names.get(int(place.index), "?") if place.space == "buffer" else plain_name(str(place.index))
        kind = self.code.module.type(found.type)
        if place.offset is None:
            return f"{name}[{self._index(pointer, depth)}]"
        if place.space == "buffer" and self._is_reference(int(place.index)):
            return name if place.offset == 0 else f"{name}[byte {place.offset}]"
        return f"{name}[{place.offset // kind.size if kind.size else place.offset}]"

    def _index(self, pointer: str, depth: int) -> str:
        found = self.code.definitions.get(pointer)
        if found is None or found.opcode != "getelementptr":
            return "…"
        varying = [one for one in found.operands[1:] if one.startswith("%")]
        return self.value(varying[-1], depth + 1) if varying else "…"

    def _is_reference(self, index: int) -> bool:
        return any(
            p.kind == "buffer" and p.index == index and p.type.rstrip().endswith("&")
            for p in self.code.signature.parameters
        )


def _other(word: str) -> str:
    return " || " if word == " && " else " && "


def interval_of(code: KernelCode, found: Instruction) -> tuple[int, int] | None:
    """(low, high) of a comparison that the compiler made of ``low <= x && x < high``, or of its opposite."""
    shifted = code.definitions.get(found.operands[0])
    bits = code.module.type(found.type).bits
    if shifted is None or shifted.opcode != "add" or not found.detail.startswith("u") or not bits:
        return None
    offset, bound = integer(shifted.operands[1], bits), integer(found.operands[1], bits)
    if offset is None or bound is None:
        return None
    low = -offset & values.mask(bits)
    high = low + bound + (found.detail in ("ule", "ugt"))
    return (low, high) if high <= values.mask(bits) else None


def integer(operand: str, bits: int) -> int | None:
    return int(operand) & values.mask(bits) if re.fullmatch(r"-?\d+", operand) else None


def canonical(code: KernelCode, operand: str) -> tuple[str, bool]:
    """(key, whether it stands for the opposite): the same for equal conditions of two programs, whatever the names."""
    found = code.definitions.get(operand)
    if found is not None and found.opcode == "xor" and found.operands[1] in ("true", "-1") and found.type == "i1":
        key, negated = canonical(code, found.operands[0])
        return key, not negated
    if found is not None and found.opcode == "icmp":
        return _canonical_comparison(code, found)
    return _key(code, operand), False


def _canonical_comparison(code: KernelCode, found: Instruction) -> tuple[str, bool]:
    left, right = found.operands
    predicate = found.detail
    bits = code.module.type(found.type).bits
    if not left.startswith("%") and right.startswith("%"):
        left, right = right, left
        predicate = predicate if predicate in ("eq", "ne") else predicate[0] + _MIRRORED[predicate[1:]]
    negated = relation(predicate) in ("ne", "ge", "le")
    if negated:
        opposite = _OPPOSITE[relation(predicate)]
        predicate = opposite if opposite == "eq" else predicate[0] + opposite
    number = integer(right, bits) if bits else None
    if relation(predicate) == "gt" and number is not None and number != values.mask(bits) >> (predicate[0] == "s"):
        # x > c is not x < c + 1.
        predicate, right, negated = predicate[0] + "lt", str(number + 1 & values.mask(bits)), not negated
    sides = [_key(code, left, bits), _key(code, right, bits)]
    if predicate == "eq":
        sides.sort()
    elif relation(predicate) == "gt":
        predicate, sides = predicate[0] + "lt", sides[::-1]
    return f"{predicate}({sides[0]},{sides[1]})", negated


def orientation(found: Instruction) -> tuple[str, bool]:
    """(relation, whether it is negated) of a comparison: equal for one and for what the optimiser makes of it."""
    left, right = found.operands
    predicate = found.detail
    if not left.startswith("%") and right.startswith("%"):
        left, right = right, left
        predicate = predicate if predicate in ("eq", "ne") else predicate[0] + _MIRRORED[predicate[1:]]
    word = relation(predicate)
    if word in ("eq", "ne"):
        return "eq", word == "ne"
    if right.startswith("%"):
        return "order", word in ("gt", "ge")
    if found.opcode == "fcmp":
        # Whether a NaN counts as true is turned round together with the rest.
        return "order of reals", word in ("gt", "ge")
    return predicate[0] + "order", word in ("gt", "ge")


def _key(code: KernelCode, operand: str, bits: int = 0) -> str:
    if operand.startswith("%"):
        return code.keys.get(operand, "…")
    number = integer(operand, bits) if bits else None
    return operand if number is None else str(number)


def key_of(code: KernelCode, operand: str) -> str:
    """The canonical form of a value that depends on the configuration alone."""
    return _key(code, operand)


def keys_of(code: KernelCode) -> dict[str, str]:
    """The canonical form of every value that depends on the configuration alone; a digest where it is long."""
    if code.has_keys:
        return code.keys
    code.has_keys = True
    for step in code.steps:
        for found in step.uniform:
            key = _own_key(code, found)
            code.keys[found.name] = key if len(key) <= 64 else hashlib.blake2b(key.encode(), digest_size=12).hexdigest()
    return code.keys


def _own_key(code: KernelCode, found: Instruction) -> str:
    found = (reloaded(code, found) if found.opcode == "phi" else None) or found
    if found.opcode == "load":
        place = address(code, found.operands[0])
        if place is None:
            return "…"
        index = place.index if place.space != "global" else _table(code, str(place.index))
        inner = "" if place.offset is not None else _key(code, found.operands[0])
        return f"{place.space}:{index}:{place.offset}:{inner}:{found.type}"
    if found.opcode == "icmp":
        key, negated = _canonical_comparison(code, found)
        return f"not {key}" if negated else key
    bits = code.module.type(found.type).bits
    parts = [_key(code, one, bits) for one in found.operands]
    if found.opcode in _COMMUTATIVE:
        parts.sort()
    name = found.detail if found.opcode == "call" else found.opcode
    detail = found.detail if found.opcode in ("fcmp", "getelementptr") else ""
    return f"{name}.{detail}.{found.type}({','.join(parts)})"


def _table(code: KernelCode, name: str) -> str:
    """Tables are alike if they hold the same."""
    found = code.module.globals.get(name)
    return hashlib.blake2b(found.initializer.encode(), digest_size=8).hexdigest() if found else name
