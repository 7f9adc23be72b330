"""One kernel with all its calls put in line: the order of its blocks, and what each of its values depends on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from kfp.auditing.program.instructions import Instruction
from kfp.auditing.program.module import Block, Function, Module
from kfp.auditing.program.opcodes import AGGREGATES, BINARY, CASTS, COMPARISONS, UNARY
from kfp.auditing.program.types import split_list
from kfp.auditing.static.launch import buffer_at, geometry_at, geometry_name
from kfp.results import KernelSignature

# What a value depends on: names of parameters and of the launch's geometry. None: on the thread, on what a loop carries
# along, on memory that is written to: on more than the configuration.
Support = frozenset[str] | None
NOTHING: frozenset[str] = frozenset()

_GEP_EXPRESSION = re.compile(r"getelementptr (?:inbounds |nuw |nusw )*\((.*)\)$")
_FOLLOWED = frozenset((*BINARY, *COMPARISONS, *CASTS, *UNARY, *AGGREGATES, "select", "getelementptr"))
# Deeper expressions are neither followed nor printed.
_DEEPEST = 200


@dataclass(frozen=True)
class Address:
    """What a pointer leads to: ``launch``, ``buffer``, ``global``; the offset where it is known without running."""

    space: str
    index: int | str
    offset: int | None


class Given(NamedTuple):
    """What all calls of a function have in common for one parameter: a value, or where a pointer leads."""

    key: str
    support: Support
    address: Address | None

    @property
    def tells(self) -> bool:
        """Whether it may say something of the configuration."""
        return bool(self.support) or (self.address is not None and self.address.space != "global")


class Step(NamedTuple):
    block: Block
    uniform: list[Instruction]
    targets: tuple[str, ...]
    decides: bool


class Call(NamedTuple):
    caller: KernelCode
    instruction: Instruction


@dataclass
class KernelCode:
    """``order`` is a reverse postorder of the blocks; ``support`` by the name of a value. ``calls`` are those of a
    function that is not the kernel itself.
    """

    module: Module
    function: Function
    signature: KernelSignature
    order: list[Block]
    rank: dict[str, int]
    predecessors: dict[str, list[str]]
    dominator: dict[str, str]
    definitions: dict[str, Instruction]
    home: dict[str, str]
    users: dict[str, list[Instruction]]
    support: dict[str, Support]
    addresses: dict[str, Address]
    names: Mapping[int, str]
    # What of the launch and of which buffers anything depends on that depends on nothing else.
    numbers: set[int]
    buffers: set[int]
    # The canonical form of every such value.
    keys: dict[str, str]
    has_keys: bool = False
    calls: list[Call] = field(default_factory=list)

    def block_of(self, instruction: Instruction) -> str:
        return self.lines.get(instruction.line, "")

    @cached_property
    def lines(self) -> dict[int, str]:
        return {one.line: block.name for block in self.order for one in block.instructions}

    @cached_property
    def steps(self) -> list[Step]:
        """The blocks in order, with what in each can be known from the configuration alone."""
        return [_step(self, block) for block in self.order]

    def support_of(self, operand: str) -> Support:
        return self.support.get(operand, NOTHING) if operand.startswith("%") else NOTHING

    def is_uniform(self, operand: str) -> bool:
        """Depends on the configuration, and on nothing else."""
        return bool(self.support_of(operand))


def kernel_code(module: Module, number: int, signature: KernelSignature) -> KernelCode | None:
    """The code of the kernel of this number in the compile report; None if the module lacks it."""
    function = module.functions.get(f"__kfp_thread_{number}")
    if function is None or not function.blocks or not function.parameters:
        return None
    launch = function.parameters[0][0]
    return _code(module, function, signature, {launch: Given("launch", NOTHING, Address("launch", 0, 0))})


def function_code(module: Module, name: str, signature: KernelSignature, given: Mapping[str, Given]) -> KernelCode:
    """The code of a function of a kernel's, with what it is given for its parameters."""
    return _code(module, module.functions[name], signature, given)


def _code(module: Module, function: Function, signature: KernelSignature, given: Mapping[str, Given]) -> KernelCode:
    order = _reverse_postorder(function)
    rank = {block.name: i for i, block in enumerate(order)}
    predecessors: dict[str, list[str]] = {block.name: [] for block in order}
    for block in order:
        for target in dict.fromkeys(block.targets):
            if target in predecessors:
                predecessors[target].append(block.name)
    definitions: dict[str, Instruction] = {}
    home: dict[str, str] = {}
    users: dict[str, list[Instruction]] = {}
    for block in order:
        for instruction in block.instructions:
            if instruction.name:
                definitions[instruction.name] = instruction
                home[instruction.name] = block.name
            for operand in instruction.operands:
                users.setdefault(operand, []).append(instruction)
    code = KernelCode(
        module,
        function,
        signature,
        order,
        rank,
        predecessors,
        _dominators(order, rank, predecessors),
        definitions,
        home,
        users,
        {},
        {},
        {p.index: p.name for p in signature.parameters if p.kind == "buffer"},
        set(),
        set(),
        {},
    )
    _follow(code, given)
    return code


def _step(code: KernelCode, block: Block) -> Step:
    uniform = [one for one in block.instructions if one.name and code.support.get(one.name) is not None]
    last = block.instructions[-1] if block.instructions else None
    asks = last is not None and last.opcode in ("br", "switch") and bool(last.operands)
    decides = asks and last is not None and code.support_of(last.operands[0]) is not None
    return Step(block, uniform, block.targets, decides)


def _reverse_postorder(function: Function) -> list[Block]:
    first = next(iter(function.blocks))
    seen, postorder = {first}, []
    stack = [(first, iter(function.blocks[first].targets))]
    while stack:
        name, targets = stack[-1]
        for target in targets:
            if target in function.blocks and target not in seen:
                seen.add(target)
                stack.append((target, iter(function.blocks[target].targets)))
                break
        else:
            postorder.append(function.blocks[name])
            stack.pop()
    return postorder[::-1]


def _dominators(order: list[Block], rank: dict[str, int], predecessors: dict[str, list[str]]) -> dict[str, str]:
    """The immediate dominator of every block but the first (Cooper, Harvey and Kennedy 2001)."""
    dominator = {order[0].name: order[0].name}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            new = ""
            for one in predecessors[block.name]:
                if one not in dominator:
                    continue
                if not new:
                    new = one
                    continue
                two = new
                while one != two:
                    while rank[one] > rank[two]:
                        one = dominator[one]
                    while rank[two] > rank[one]:
                        two = dominator[two]
                new = one
            if new and dominator.get(block.name) != new:
                dominator[block.name] = new
                changed = True
    return dominator


def _follow(code: KernelCode, given: Mapping[str, Given]) -> None:
    for name, _ in code.function.parameters:
        known = given.get(name)
        code.support[name] = None if known is None else known.support
        if known is not None:
            code.keys[name] = known.key
            if known.address is not None:
                code.addresses[name] = known.address
    for block in code.order:
        for instruction in block.instructions:
            if instruction.name:
                code.support[instruction.name] = _support(code, block, instruction)


def _support(code: KernelCode, block: Block, instruction: Instruction) -> Support:
    opcode = instruction.opcode
    if opcode == "load":
        return _loaded(code, instruction)
    if opcode == "phi":
        load = reloaded(code, instruction)
        return _merged(code, block, instruction) if load is None else _loaded(code, load)
    if opcode == "call":
        if not instruction.detail.startswith("@llvm."):
            return None
    elif opcode not in _FOLLOWED:
        return None
    supports = [code.support_of(operand) for operand in instruction.operands]
    if opcode == "getelementptr":
        _address(code, instruction)
    elif opcode in ("addrspacecast", "freeze", "bitcast"):
        found = address(code, instruction.operands[0])
        if found is not None:
            code.addresses[instruction.name] = found
    return _union(supports)


def _union(supports: list[Support]) -> Support:
    total: frozenset[str] = NOTHING
    for support in supports:
        if support is None:
            return None
        total |= support
    return total


def _loaded(code: KernelCode, instruction: Instruction) -> Support:
    if instruction.detail == "volatile":
        return None
    pointer = instruction.operands[0]
    place = address(code, pointer)
    if place is None:
        return None
    inner = code.support_of(pointer)
    if place.space == "global":
        known = code.module.globals.get(str(place.index))
        return inner if known is not None and known.constant else None
    if place.space == "launch":
        if place.offset is None:
            return None
        index = buffer_at(place.offset)
        if index is not None:
            code.addresses[instruction.name] = Address("buffer", index, 0)
            return NOTHING
        geometry = geometry_at(place.offset)
        if geometry is None or geometry[0] == "threadgroup_position_in_grid":
            return None
        code.numbers.add(place.offset)
        return frozenset([geometry_name(place.offset) or ""])
    if inner is None:
        return None
    code.buffers.add(int(place.index))
    return inner | {code.names.get(int(place.index), f"buffer({place.index})")}


def reloaded(code: KernelCode, phi: Instruction) -> Instruction | None:
    """A load, if a phi is nothing but loads from one known place: what a loop reads anew in every round."""
    loads = [code.definitions.get(operand) for operand in phi.operands]
    first = loads[0] if loads else None
    if first is None or first.opcode != "load" or first.detail == "volatile":
        return None
    place = address(code, first.operands[0])
    if place is None or place.offset is None or place.space == "global":
        return None
    for other in loads[1:]:
        if other is None or other.opcode != "load" or (other.type, other.detail) != (first.type, first.detail):
            return None
        if address(code, other.operands[0]) != place:
            return None
    return first


def _merged(code: KernelCode, block: Block, phi: Instruction) -> Support:
    """A phi depends on the conditions that choose between its values as well; in a loop's head, on the loop."""
    position = code.rank[block.name]
    if any(code.rank.get(label, 0) >= position for label in phi.labels):
        return None
    supports = [code.support_of(operand) for operand in phi.operands]
    top = code.dominator.get(block.name, block.name)
    pending, seen = list(code.predecessors[block.name]), {top}
    for name in [top, *_between(code, pending, seen)]:
        last = code.function.blocks[name].instructions[-1]
        if last.opcode in ("br", "switch") and last.operands:
            supports.append(code.support_of(last.operands[0]))
    return _union(supports)


def _between(code: KernelCode, pending: list[str], seen: set[str]) -> list[str]:
    found = []
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            found.append(name)
            pending.extend(code.predecessors[name])
    return found


def _address(code: KernelCode, instruction: Instruction) -> None:
    base = address(code, instruction.operands[0])
    if base is not None:
        offset = constant_offset(code, instruction)
        together = None if offset is None or base.offset is None else base.offset + offset
        code.addresses[instruction.name] = Address(base.space, base.index, together)


def constant_offset(code: KernelCode, instruction: Instruction) -> int | None:
    kind = code.module.type(instruction.detail)
    total = 0
    for depth, operand in enumerate(instruction.operands[1:]):
        if not re.fullmatch(r"-?\d+", operand):
            return None
        number = int(operand)
        if depth == 0:
            total += number * kind.size
        elif kind.kind == "struct" and number < len(kind.offsets):
            total, kind = total + kind.offsets[number], kind.members[number]
        elif kind.kind in ("array", "vector"):
            total, kind = total + number * kind.element.size, kind.element
        else:
            return None
    return total


def address(code: KernelCode, pointer: str) -> Address | None:
    """What a pointer leads to, as far as that is known without running."""
    if pointer.startswith("@"):
        return Address("global", pointer, 0)
    if pointer.startswith("getelementptr"):
        match = _GEP_EXPRESSION.match(pointer)
        parts = split_list(match[1]) if match else []
        if len(parts) < 2 or not parts[1].startswith("ptr @"):
            return None
        operands = tuple(part.rpartition(" ")[2] for part in parts[1:])
        offset = constant_offset(code, Instruction("", "getelementptr", "ptr", operands, (), parts[0], -1, 0))
        return Address("global", operands[0], offset)
    return code.addresses.get(pointer)
