"""What a comparison in the source must always be, for a condition of the optimised program to have one outcome only."""

from __future__ import annotations

from collections.abc import Iterator

from kfp.auditing.program.instructions import Instruction
from kfp.auditing.program.translation import Translation
from kfp.auditing.static import values
from kfp.auditing.static.flow import KernelCode
from kfp.auditing.static.predicates import Predicate, Side
from kfp.auditing.static.text import integer, interval_of, orientation

_DEEPEST = 12


def forced(translation: Translation, code: KernelCode, predicate: Predicate, side: Side, token: int) -> bool | None:
    """None where that can't be told: the optimiser may have turned the comparison into its opposite."""
    if predicate.kind != "condition":
        return None
    word = translation.map.tokens[token].text
    if word in ("&&", "||"):
        return _forced_junction(code, predicate, side, word)
    written = next((one for place, one in translation.comparisons if place == token), None)
    if written is None:
        return None
    for found, holds in _parts(code, predicate.operand, side.name == "true", 0):
        if token not in translation.map.frames(code.module, found.place) and found.name != predicate.operand:
            continue
        answer = forced_by(translation, code, found, holds, written)
        if answer is not None:
            return answer
    return None


def _forced_junction(code: KernelCode, predicate: Predicate, side: Side, word: str) -> bool | None:
    """The optimiser makes one comparison of two with bounds: joined by `&&` they hold inside, by `||` outside."""
    found = code.definitions.get(predicate.operand)
    if found is None or found.opcode != "icmp" or interval_of(code, found) is None:
        return None
    inside = (side.name == "true") == (found.detail in ("ult", "ule"))
    return inside == (word == "||")


def _parts(code: KernelCode, operand: str, holds: bool, depth: int) -> Iterator[tuple[Instruction, bool]]:
    """Comparisons of which each must come out as it is given for the whole to be ``holds``."""
    found = code.definitions.get(operand)
    if found is None or depth > _DEEPEST:
        return
    if found.opcode in ("icmp", "fcmp"):
        yield found, holds
    elif found.opcode == "freeze":
        yield from _parts(code, found.operands[0], holds, depth + 1)
    elif found.opcode == "xor" and found.operands[1] in ("true", "-1"):
        yield from _parts(code, found.operands[0], not holds, depth + 1)
    elif (found.opcode == "and" and holds) or (found.opcode == "or" and not holds):
        for one in found.operands:
            yield from _parts(code, one, holds, depth + 1)
    elif found.opcode == "select":
        condition, yes, no = found.operands
        if (no == "false" and holds) or (yes == "true" and not holds):
            yield from _parts(code, condition, holds, depth + 1)
            yield from _parts(code, yes if holds else no, holds, depth + 1)
        elif (yes == "false" and holds) or (no == "true" and not holds):
            yield from _parts(code, condition, not holds, depth + 1)
            yield from _parts(code, no if holds else yes, holds, depth + 1)


def forced_by(
    translation: Translation, code: KernelCode, found: Instruction, holds: bool, written: Instruction
) -> bool | None:
    """What ``written`` must be, so that ``found`` is never ``holds``."""
    if found.opcode != written.opcode:
        return None
    interval = interval_of(code, found) if found.opcode == "icmp" else None
    if interval is not None and found.detail in ("ult", "ule", "ugt", "uge"):
        if holds != (found.detail in ("ult", "ule")):
            return None
        inside = {_outcome(translation, written, value) for value in (interval[0], interval[1] - 1)}
        truth = inside.pop() if len(inside) == 1 else None
        return None if truth is None else not truth
    one, two = orientation(found), orientation(written)
    if one[0] != two[0] or one[0] == "order":
        # Of two values neither of which is a literal, nobody knows any more which stood on the left.
        return None
    return (one[1] == two[1]) != holds


def _outcome(translation: Translation, written: Instruction, value: int) -> bool | None:
    """The comparison with a literal, for ``value`` on its other side."""
    bits = translation.program.type(written.type).bits
    left, right = (integer(operand, bits) if bits else None for operand in written.operands)
    if (left is None) == (right is None):
        return None
    answer = values.compare(written.detail, value if left is None else left, value if right is None else right, bits)
    return bool(answer) if isinstance(answer, int) else None
