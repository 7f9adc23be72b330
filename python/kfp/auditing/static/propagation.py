"""What a kernel's values are, and which of its edges can be taken, in one situation: conditional constant propagation
(Wegman and Zadeck 1991) from the numbers of a configuration, over all that depends on nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kfp.auditing.program.instructions import Instruction
from kfp.auditing.program.module import Block
from kfp.auditing.program.types import POINTER, Type, leading_type, split_list
from kfp.auditing.static import values
from kfp.auditing.static.flow import KernelCode, address
from kfp.auditing.static.launch import Situation, buffer_at
from kfp.auditing.static.values import UNKNOWN, Pointer, Value

_FLOATING = frozenset(("fadd", "fsub", "fmul", "fdiv", "frem"))
_WHOLE = frozenset(("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor"))
_CASTS = frozenset(
    ["trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp", "bitcast", "addrspacecast"]
)


@dataclass
class Outcome:
    """``values`` of what depends on the configuration alone; ``blocks`` that can be reached."""

    situation: Situation
    values: dict[str, Value]
    blocks: set[str]


def propagate(code: KernelCode, situation: Situation, given: Mapping[str, Value] | None = None) -> Outcome:
    """``given`` are the values of a function's parameters; a kernel has one, its launch."""
    launch: Mapping[str, Value] = {code.function.parameters[0][0]: Pointer("launch", 0)}
    return _Propagation(code, situation).run(launch if given is None else given)


def value_of(code: KernelCode, outcome: Outcome, operand: str, kind: str) -> Value:
    """Of an operand of type ``kind``, a literal included."""
    found = _Propagation(code, outcome.situation)
    found.outcome = outcome
    return found.value(operand, kind)


class _Propagation:
    def __init__(self, code: KernelCode, situation: Situation) -> None:
        self.code = code
        self.situation = situation
        self.outcome = Outcome(situation, {}, set())
        self.reached_by: dict[str, set[str]] = {}

    def run(self, given: Mapping[str, Value]) -> Outcome:
        code = self.code
        self.outcome.values.update({name: value for name, value in given.items() if value is not UNKNOWN})
        self.outcome.blocks.add(code.order[0].name)
        # Values that a loop carries are unknown from the start, so that one pass in order is enough but for edges back,
        # along which nothing can change other than that a block can be reached.
        known, blocks, reached_by = self.outcome.values, self.outcome.blocks, self.reached_by
        for block, uniform, targets, decides in code.steps:
            if block.name not in blocks:
                continue
            for instruction in uniform:
                value = self._evaluate(block, instruction)
                if value is not UNKNOWN:
                    known[instruction.name] = value
            chosen = self._chosen(block.instructions[-1]) if decides else None
            for target in targets if chosen is None else targets[chosen : chosen + 1]:
                blocks.add(target)
                reached_by.setdefault(target, set()).add(block.name)
        return self.outcome

    def _chosen(self, last: Instruction) -> int | None:
        chosen: int | None = None
        if last.opcode == "br" and last.operands:
            value = self.value(last.operands[0], "i1")
            chosen = None if not isinstance(value, int) else 1 - value
        elif last.opcode == "switch":
            value = self.value(last.operands[0], last.type)
            if isinstance(value, int):
                cases = [self.value(operand, last.type) for operand in last.operands[1:]]
                chosen = cases.index(value) + 1 if value in cases else 0
        return chosen

    def value(self, operand: str, kind: str) -> Value:
        if operand.startswith("%"):
            return self.outcome.values.get(operand, UNKNOWN)
        if operand.startswith(("@", "getelementptr")):
            place = address(self.code, operand)
            return UNKNOWN if place is None or place.offset is None else Pointer(str(place.index), place.offset)
        return values.constant(operand, self.code.module.type(kind))

    def _evaluate(self, block: Block, instruction: Instruction) -> Value:
        opcode = instruction.opcode
        if opcode == "load":
            return self._load(instruction)
        if opcode == "phi":
            return self._phi(block, instruction)
        if opcode == "getelementptr":
            return self._element(instruction)
        if opcode == "select":
            return self._select(instruction)
        kind = self.code.module.type(instruction.type)
        if opcode in _CASTS:
            source = self.code.module.type(instruction.detail)
            return values.cast(opcode, self.value(instruction.operands[0], instruction.detail), source, kind)
        if opcode in ("extractelement", "insertelement"):
            return self._part(instruction, kind)
        if opcode == "shufflevector":
            return self._shuffle(instruction)
        operands = [self.value(operand, instruction.type) for operand in instruction.operands]
        if opcode == "freeze":
            return operands[0]
        if any(value is UNKNOWN for value in operands):
            return _absorbed(opcode, operands, kind)
        if opcode in _WHOLE or opcode in _FLOATING or opcode in ("icmp", "fcmp", "fneg"):
            return self._arithmetic(instruction, operands, kind)
        if opcode == "call":
            return values.intrinsic(instruction.detail, list(operands), kind.bits, kind.text)
        return UNKNOWN

    def _arithmetic(self, instruction: Instruction, operands: list[Value], kind: Type) -> Value:
        if kind.kind == "vector":
            if not all(isinstance(value, tuple) and len(value) == kind.count for value in operands):
                return UNKNOWN
            lanes = [list(lane) for lane in zip(*operands, strict=True)]
            parts = [self._arithmetic(instruction, lane, kind.element) for lane in lanes]
            return UNKNOWN if any(part is UNKNOWN for part in parts) else tuple(parts)
        opcode = instruction.opcode
        if opcode in ("icmp", "fcmp"):
            return values.compare(instruction.detail, operands[0], operands[1], kind.bits)
        a, b = operands[0], operands[-1]
        if opcode == "fneg":
            return -a if isinstance(a, float) else UNKNOWN
        if isinstance(a, int) and isinstance(b, int) and opcode in _WHOLE and kind.bits:
            return values.integer(opcode, a, b, kind.bits)
        if isinstance(a, float) and isinstance(b, float) and opcode in _FLOATING:
            return values.floating(opcode, a, b, kind.text)
        return UNKNOWN

    def _load(self, instruction: Instruction) -> Value:
        place = self.value(instruction.operands[0], "ptr")
        if not isinstance(place, Pointer):
            return UNKNOWN
        kind = self.code.module.type(instruction.type)
        if place.base == "launch":
            index = buffer_at(place.offset) if kind is POINTER else None
            if index is not None:
                return Pointer(f"buffer {index}", 0)
            number = self.situation.geometry(place.offset) if kind.bits == 32 else None
            return UNKNOWN if number is None else number
        if place.base.startswith("buffer "):
            memory = self.situation.memory.get(int(place.base[7:]))
            return UNKNOWN if memory is None else values.load(memory, place.offset, kind)
        return self._from_table(place, kind)

    def _from_table(self, place: Pointer, kind: Type) -> Value:
        table = self.code.module.globals.get(place.base)
        if table is None or not table.constant:
            return UNKNOWN
        whole = self.code.module.type(table.type)
        text, offset = table.initializer, place.offset
        while whole.kind in ("array", "struct") and offset >= 0:
            if text == "zeroinitializer":
                return values.zero(kind)
            parts = _parts(text)
            if whole.kind == "array":
                number, offset = divmod(offset, max(1, whole.element.size))
                whole = whole.element
            else:
                number = sum(1 for start in whole.offsets if start <= offset) - 1
                offset -= whole.offsets[number] if whole.offsets else 0
                whole = whole.members[number] if whole.members else whole
            if number >= len(parts):
                return UNKNOWN
            text = parts[number]
        if offset != 0 or whole.text != kind.text:
            return UNKNOWN
        return values.constant(text, kind)

    def _phi(self, block: Block, phi: Instruction) -> Value:
        found: list[Value] = []
        for operand, label in zip(phi.operands, phi.labels, strict=False):
            if label in self.reached_by.get(block.name, ()) and operand not in ("poison", "undef"):
                found.append(self.value(operand, phi.type))
        if not found or any(value is UNKNOWN or value != found[0] for value in found):
            return UNKNOWN
        return found[0]

    def _element(self, instruction: Instruction) -> Value:
        base = self.value(instruction.operands[0], "ptr")
        kind = self.code.module.type(instruction.detail)
        if not isinstance(base, Pointer):
            return UNKNOWN
        total = base.offset
        for depth, operand in enumerate(instruction.operands[1:]):
            number = self._index(operand)
            if number is None:
                return UNKNOWN
            if depth == 0:
                total += number * kind.size
            elif kind.kind == "struct" and 0 <= number < len(kind.offsets):
                total, kind = total + kind.offsets[number], kind.members[number]
            elif kind.kind in ("array", "vector"):
                total, kind = total + number * kind.element.size, kind.element
            else:
                return UNKNOWN
        return Pointer(base.base, total)

    def _index(self, operand: str) -> int | None:
        if not operand.startswith("%"):
            return int(operand) if re.fullmatch(r"-?\d+", operand) else None
        value = self.outcome.values.get(operand, UNKNOWN)
        definition = self.code.definitions.get(operand)
        if not isinstance(value, int) or definition is None:
            return None
        return values.signed(value, self.code.module.type(definition.type).bits or 64)

    def _select(self, instruction: Instruction) -> Value:
        condition = self.value(instruction.operands[0], instruction.detail)
        either = [self.value(operand, instruction.type) for operand in instruction.operands[1:3]]
        if isinstance(condition, int):
            return either[0] if condition else either[1]
        return either[0] if len(either) == 2 and either[0] == either[1] else UNKNOWN

    def _part(self, instruction: Instruction, kind: Type) -> Value:
        extracts = instruction.opcode == "extractelement"
        base = instruction.operands[0]
        if base in ("poison", "undef") and not extracts:
            # Any value will do for what is about to be written over.
            base = "zeroinitializer"
        whole = self.value(base, instruction.detail if extracts else instruction.type)
        if not isinstance(whole, tuple) or isinstance(whole, Pointer):
            return UNKNOWN
        at = self.value(instruction.operands[-1], "i64")
        if not isinstance(at, int) or not 0 <= at < len(whole):
            return UNKNOWN
        if extracts:
            return whole[at]  # type: ignore[return-value]
        new = self.value(instruction.operands[1], kind.element.text if kind.members else "")
        return UNKNOWN if new is UNKNOWN else (*whole[:at], new, *whole[at + 1 :])

    def _shuffle(self, instruction: Instruction) -> Value:
        one = self.value(instruction.operands[0], instruction.type)
        order = self.value(instruction.operands[2], instruction.detail)
        if not isinstance(one, tuple) or not isinstance(order, tuple):
            return UNKNOWN
        two = self.value(instruction.operands[1], instruction.type)
        both = (*one, *two) if isinstance(two, tuple) else one
        chosen = [both[i] for i in order if isinstance(i, int) and i < len(both)]
        return tuple(chosen) if len(chosen) == len(order) else UNKNOWN


def _absorbed(opcode: str, operands: list[Value], kind: Type) -> Value:
    """What one operand decides whatever the other is."""
    whole = [value for value in operands if isinstance(value, int)]
    if opcode in ("and", "mul") and 0 in whole:
        return 0
    if opcode == "or" and kind.kind == "int" and values.mask(kind.bits) in whole:
        return values.mask(kind.bits)
    return UNKNOWN


def _parts(text: str) -> list[str]:
    if text.startswith('c"'):
        raw = text[2:-1]
        data: list[str] = []
        at = 0
        while at < len(raw):
            if raw[at] == "\\":
                data.append(str(int(raw[at + 1 : at + 3], 16)))
                at += 3
            else:
                data.append(str(ord(raw[at])))
                at += 1
        return data
    inner = text[2:-2] if text.startswith("<{") else text[1:-1]
    return [leading_type(part)[1] for part in split_list(inner)]
