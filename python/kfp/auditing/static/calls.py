"""Functions that stay out of line, each looked at with what its callers give it of the configuration."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from kfp.auditing.program.instructions import Instruction
from kfp.auditing.static.flow import Call, Given, KernelCode, address, function_code
from kfp.auditing.static.predicates import Evaluated, Situations, evaluate, evaluate_called
from kfp.auditing.static.text import key_of, keys_of

# Of one kernel, so many functions with different arguments.
MOST_CALLED = 64


def codes_within(code: KernelCode) -> Iterator[KernelCode]:
    """The kernel's own code, and that of every function that its calls tell something, once for each that they tell."""
    known: dict[Hashable, KernelCode] = {}
    pending = [code]
    while pending:
        caller = pending.pop(0)
        keys_of(caller)
        yield caller
        for call, name in _calls(caller):
            given = _given(caller, call, name)
            if not any(one.tells for one in given.values()):
                continue
            key = (name, tuple(sorted((parameter, one.key) for parameter, one in given.items())))
            if key not in known:
                if len(known) >= MOST_CALLED:
                    continue
                known[key] = function_code(caller.module, name, caller.signature, given)
                pending.append(known[key])
            known[key].calls.append(Call(caller, call))


def evaluate_within(code: KernelCode, situations: Situations) -> Iterator[Evaluated]:
    """All of ``codes_within``, callers before what they call."""
    found: dict[int, Evaluated] = {}
    left = list(codes_within(code))
    while left:
        ready = [one for one in left if all(id(call.caller) in found for call in one.calls)]
        for one in ready:
            found[id(one)] = evaluate_called(one, found) if one.calls else evaluate(one, situations)
            yield found[id(one)]
        if not ready:
            # They call each other.
            return
        left = [one for one in left if id(one) not in found]


def told_in_secret(code: KernelCode) -> set[str]:
    """The functions that get a pointer to memory in which something of the configuration has been put: what they make
    of it can't be followed.
    """
    return {name for one in codes_within(code) for call, name in _calls(one) if _points_to_telling(one, call)}


def _calls(code: KernelCode) -> Iterator[tuple[Instruction, str]]:
    for block in code.order:
        for one in block.instructions:
            name = one.detail.lstrip("@").strip('"') if one.opcode == "call" else ""
            function = code.module.functions.get(name) if name else None
            if function is not None and function.blocks and len(function.parameters) == len(one.operands):
                yield one, name


def _given(caller: KernelCode, call: Instruction, name: str) -> Mapping[str, Given]:
    """By parameter what is known of it."""
    found = {}
    for (parameter, _), operand in zip(caller.module.functions[name].parameters, call.operands, strict=True):
        place = address(caller, operand)
        support = caller.support_of(operand)
        if place is not None:
            within = key_of(caller, operand) if place.offset is None else place.offset
            found[parameter] = Given(f"{place.space}:{place.index}:{within}", support, place)
        elif support is not None:
            found[parameter] = Given(key_of(caller, operand), support, None)
    return found


def _points_to_telling(code: KernelCode, call: Instruction) -> bool:
    bases = _bases(code)
    own = {bases[operand] for operand in call.operands if operand in bases}
    if not own:
        return False
    for block in code.order:
        for one in block.instructions:
            if one.opcode == "store" and bases.get(one.operands[1]) in own and code.is_uniform(one.operands[0]):
                return True
            if one.detail.startswith("@llvm.memcpy") and bases.get(one.operands[0]) in own:
                place = address(code, one.operands[1])
                if place is not None and place.space != "global" and code.support_of(one.operands[1]) is not None:
                    return True
    return False


def _bases(code: KernelCode) -> dict[str, str]:
    """The variable in memory that each pointer leads into."""
    found: dict[str, str] = {}
    for block in code.order:
        for one in block.instructions:
            if one.opcode == "alloca":
                found[one.name] = one.name
            elif one.opcode in ("getelementptr", "addrspacecast", "bitcast") and one.operands[0] in found:
                found[one.name] = found[one.operands[0]]
    return found
