"""Where a kernel asks for its configuration: conditions, switches, tables, and values that single out a point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kfp.auditing.program.instructions import Instruction
from kfp.auditing.program.wording import plain_name
from kfp.auditing.static import values
from kfp.auditing.static.flow import NOTHING, Call, KernelCode, address
from kfp.auditing.static.launch import Situation
from kfp.auditing.static.propagation import Outcome, propagate, value_of
from kfp.auditing.static.text import canonical, clipped, condition, expression, keys_of
from kfp.auditing.static.values import UNKNOWN, Value

# By label of a configuration, its dispatches of the kernel.
Situations = Mapping[str, Sequence[Situation]]
MOST_PREDICATES = 400
# What singles a point out has few values, most of the time the same, over many inputs.
_MOST_VALUES = 4
_LEAST_INPUTS = 6


@dataclass(frozen=True)
class Side:
    """One answer to a predicate: what takes it, and where it leads."""

    name: str
    text: str
    key: Hashable
    accepts: Mapping[str, bool | None]
    place: int
    cases: tuple[int, ...] = ()


@dataclass(frozen=True)
class Predicate:
    """``places``: of the condition in the intermediate code, the best first; ``operand``: the value that decides.
    ``number``: that of its line in the intermediate code.
    """

    operand: str
    number: int
    kind: str
    places: tuple[int, ...]
    parameters: tuple[str, ...]
    sides: tuple[Side, ...]


@dataclass(frozen=True)
class Evaluated:
    """A kernel's values and reachable edges, by label, in each of its situations there."""

    code: KernelCode
    outcomes: Mapping[str, tuple[Outcome, ...]]


def evaluate(code: KernelCode, situations: Situations) -> Evaluated:
    known: dict[Hashable, Outcome] = {}
    outcomes = {}
    for label, dispatches in situations.items():
        keys = {_what_matters(code, one): one for one in dispatches if one.kernel == code.signature.name}
        for key, one in keys.items():
            if key not in known:
                known[key] = propagate(code, one)
        outcomes[label] = tuple(known[key] for key in keys)
    return Evaluated(code, outcomes)


def evaluate_called(code: KernelCode, callers: Mapping[int, Evaluated]) -> Evaluated:
    """The same for a function, wherever one of its calls is reached. ``callers`` by the identity of their code."""
    known: dict[Hashable, Outcome] = {}
    outcomes: dict[str, tuple[Outcome, ...]] = {}
    for call in code.calls:
        for label, listed in callers[id(call.caller)].outcomes.items():
            reached = [one for one in listed if call.caller.block_of(call.instruction) in one.blocks]
            found = [_outcome_of_call(code, call, one, known) for one in reached]
            outcomes[label] = (*outcomes.get(label, ()), *found)
    return Evaluated(code, outcomes)


def _outcome_of_call(code: KernelCode, call: Call, at: Outcome, known: dict[Hashable, Outcome]) -> Outcome:
    pairs = zip(code.function.parameters, call.instruction.operands, strict=True)
    given = {
        name: value_of(call.caller, at, operand, kind)
        for (name, kind), operand in pairs
        if code.support[name] is not None or name in code.addresses
    }
    key = (tuple(given.items()), _what_matters(code, at.situation))
    if key not in known:
        known[key] = propagate(code, at.situation, given)
    return known[key]


def _what_matters(code: KernelCode, situation: Situation) -> Hashable:
    return (
        tuple(situation.memory.get(index) for index in sorted(code.buffers)),
        tuple(situation.geometry(offset) for offset in sorted(code.numbers)),
    )


def find_predicates(evaluated: Evaluated) -> Iterator[Predicate]:
    code = evaluated.code
    keys_of(code)
    count = 0
    for block in code.order:
        for instruction in block.instructions:
            if count >= MOST_PREDICATES:
                return
            found = _predicate(evaluated, instruction)
            if found is not None:
                count += 1
                yield found


def _predicate(evaluated: Evaluated, instruction: Instruction) -> Predicate | None:
    code = evaluated.code
    if instruction.opcode == "switch":
        return _switch(evaluated, instruction) if code.is_uniform(instruction.operands[0]) else None
    if not instruction.name or not code.support.get(instruction.name):
        return None
    users = code.users.get(instruction.name, [])
    if instruction.type == "i1" or instruction.opcode in ("icmp", "fcmp"):
        if code.module.type(instruction.type).kind == "vector":
            return None
        asked = [user for user in users if not _is_uniform_truth(code, user)]
        return _condition(evaluated, instruction, asked) if asked else None
    outside = [user for user in users if not user.name or not code.support.get(user.name)]
    outside = [user for user in outside if user.opcode != "switch"]
    return _value(evaluated, instruction, outside) if outside else None


def _is_uniform_truth(code: KernelCode, user: Instruction) -> bool:
    """Whether the user is itself a truth that depends on the configuration alone: then that is the condition."""
    return (user.type == "i1" or user.opcode in ("icmp", "fcmp")) and bool(user.name and code.support.get(user.name))


def _parameters(code: KernelCode, operand: str) -> tuple[str, ...]:
    return tuple(sorted(code.support_of(operand) or ()))


def _condition(evaluated: Evaluated, found: Instruction, asked: list[Instruction]) -> Predicate:
    code = evaluated.code
    key, negated = canonical(code, found.name)
    branch = next((user for user in asked if user.opcode == "br" and len(user.labels) == 2), None)
    sides = tuple(
        Side(
            "true" if holds else "false",
            condition(code, found.name, holds),
            (key, holds != negated),
            {
                label: _over(_truth(code, one, found, asked, holds) for one in outcomes)
                for label, outcomes in evaluated.outcomes.items()
            },
            _first_place(code, branch.labels[0 if holds else 1]) if branch else -1,
        )
        for holds in (True, False)
    )
    # The names of one's own choosing are those of the condition, not of what it is made of.
    places = (found.place, *_operand_places(code, found), *(user.place for user in asked))
    return Predicate(found.name, found.line, "condition", places, _parameters(code, found.name), sides)


def _over(answers: Iterator[bool | None]) -> bool | None:
    """True if some dispatch takes it, False if none does."""
    listed = list(answers)
    if any(listed):
        return True
    return None if None in listed else False


def _is_reached(code: KernelCode, outcome: Outcome, users: Sequence[Instruction]) -> bool:
    return any(code.block_of(user) in outcome.blocks for user in users)


def _truth(
    code: KernelCode, outcome: Outcome, found: Instruction, asked: list[Instruction], holds: bool
) -> bool | None:
    if not _is_reached(code, outcome, asked):
        return False
    value = outcome.values.get(found.name, UNKNOWN)
    return bool(value) == holds if isinstance(value, int) else None


def _switch(evaluated: Evaluated, switch: Instruction) -> Predicate:
    code = evaluated.code
    operand = switch.operands[0]
    kind = code.module.type(switch.type)
    cases = [values.constant(case, kind) for case in switch.operands[1:]]
    by_target: dict[str, list[int]] = {}
    for case, label in zip(cases, switch.labels[1:], strict=False):
        if isinstance(case, int):
            by_target.setdefault(label, []).append(case)
    subject = expression(code, operand)
    key = canonical(code, operand)[0]
    sides = []
    for target, numbers in [*by_target.items(), (switch.labels[0], [])]:
        text = " || ".join(f"{subject} == {number}" for number in numbers) or f"{subject} is none of its cases"
        accepts = {
            label: _over(_chosen(code, one, switch, cases, numbers) for one in outcomes)
            for label, outcomes in evaluated.outcomes.items()
        }
        name = f"case {', '.join(map(str, numbers))}" if numbers else "default"
        side_key = (key, "switch", tuple(sorted(numbers)))
        sides.append(Side(name, clipped(text), side_key, accepts, _first_place(code, target), tuple(numbers)))
    places = (switch.place, *_operand_places(code, switch))
    return Predicate(operand, switch.line, "switch", places, _parameters(code, operand), tuple(sides))


def _chosen(
    code: KernelCode, outcome: Outcome, switch: Instruction, cases: Sequence[object], numbers: Sequence[int]
) -> bool | None:
    if not _is_reached(code, outcome, [switch]):
        return False
    value = outcome.values.get(switch.operands[0], UNKNOWN)
    if not isinstance(value, int):
        return None
    return value in numbers if numbers else value not in cases


def _value(evaluated: Evaluated, found: Instruction, users: list[Instruction]) -> Predicate | None:
    """A number that is the same nearly everywhere, and another one somewhere; or that is looked up in a table."""
    code = evaluated.code
    if found.opcode in ("getelementptr", "phi", "bitcast", "addrspacecast"):
        return None
    place = address(code, found.operands[0]) if found.opcode == "load" else None
    looked_up = place is not None and place.space == "global" and place.offset is None
    if found.opcode == "load" and not looked_up:
        return None
    # What is looked up is chosen where it is looked up.
    tables = [one.place for one in table_loads(code, found)]
    places = (*tables, found.place, *_operand_places(code, found), *(user.place for user in users))
    kind = "table" if looked_up else "value"
    key = canonical(code, found.name)[0]
    parameters = _parameters(code, found.name)
    if not evaluated.outcomes:
        return Predicate(found.name, found.line, kind, places, parameters, (Side("", "", (key, "value"), {}, -1),))
    by_label = {
        label: [one.values.get(found.name, UNKNOWN) for one in outcomes if _is_reached(code, one, users)]
        for label, outcomes in evaluated.outcomes.items()
    }
    rare = _singled_out(evaluated, found.name)
    if not rare:
        return None
    subject = expression(code, found.name)
    sides = []
    for value in rare:
        accepts = {
            label: (value in seen or (None if UNKNOWN in seen else False)) if seen else False
            for label, seen in by_label.items()
        }
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        shown = plain_name(value.base) if isinstance(value, values.Pointer) else shown
        sides.append(Side(f"is {shown}", clipped(f"{subject} == {shown}"), (key, "value"), accepts, -1))
    return Predicate(found.name, found.line, kind, places, parameters, tuple(sides))


def _singled_out(evaluated: Evaluated, operand: str) -> list[object]:
    """The few values that one of many different inputs gets, where most get the same."""
    code = evaluated.code
    names = code.support_of(operand) or NOTHING
    leaves = sorted(
        name for name, support in code.support.items() if support and len(support) == 1 and support <= names
    )
    leaves = [name for name in leaves if code.definitions[name].opcode == "load"]
    found: dict[Hashable, Value] = {}
    for outcomes in evaluated.outcomes.values():
        for one in outcomes:
            found[tuple(one.values.get(leaf) for leaf in leaves)] = one.values.get(operand, UNKNOWN)
    counted = Counter(found.values())
    usual, most = counted.most_common(1)[0] if counted else (UNKNOWN, 0)
    if len(counted) < 2 or len(counted) > _MOST_VALUES or len(found) < _LEAST_INPUTS or 2 * most <= len(found):
        return []
    return [value for value in counted if value != usual and value is not UNKNOWN]


def _operand_places(code: KernelCode, found: Instruction) -> tuple[int, ...]:
    return tuple(one.place for one in _made_of(code, found) if one.opcode != "load")


def table_loads(code: KernelCode, found: Instruction) -> list[Instruction]:
    """The look-ups in constant tables that a value is made of."""
    loads = [one for one in (found, *_made_of(code, found)) if one.opcode == "load"]
    at = [(one, address(code, one.operands[0])) for one in loads]
    return [one for one, place in at if place is not None and place.space == "global" and place.offset is None]


def _made_of(code: KernelCode, found: Instruction) -> Iterator[Instruction]:
    """The nearest first; what is behind a load is what it is loaded from, not what it is made of."""
    pending, seen = list(found.operands), set(found.operands)
    while pending and len(seen) < 40:
        definition = code.definitions.get(pending.pop(0))
        if definition is not None:
            yield definition
            new = [operand for operand in definition.operands if operand not in seen]
            if definition.opcode != "load":
                seen.update(new)
                pending.extend(new)


def _first_place(code: KernelCode, label: str) -> int:
    block = code.function.blocks.get(label)
    return (
        next((one.place for one in block.instructions if one.place >= 0 and one.opcode != "phi"), -1) if block else -1
    )
