"""E3b: the candidate without one of its arms, by a small edit of its source where the arm's condition stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kfp import machine
from kfp.auditing.program.counters import COUNTED, Counted, with_counters
from kfp.auditing.program.translation import DEVICE, NoTranslation, Translation, translate
from kfp.auditing.program.wording import plain_name
from kfp.auditing.results import Arm
from kfp.auditing.static.closing import Written, ways_to_close
from kfp.auditing.static.editing import Edit, Insertion, Source, source_of, unique
from kfp.auditing.static.edits import Editor, comparisons_of_statement
from kfp.auditing.static.entries import entry_edit
from kfp.auditing.static.evidence import codes_of, tokens_of
from kfp.auditing.static.flow import KernelCode
from kfp.auditing.static.predicates import Predicate, Side
from kfp.auditing.static.targets import Target, other_keys
from kfp.gating.trials import Bench
from kfp.limits import Limits

# The same condition may stand in several places.
_MOST_PLACES = 6
_MOST_TRIED = 8


def forced_fallbacks(source: str, arm: Arm, *, bench: Bench | None = None) -> list[str]:
    """Versions of ``source`` in which ``arm``, of its static evidence or its coverage, is never taken, the best first.

    Each compiles, and has no condition like the arm's any more; the arms that are left are as they were. Empty where no
    edit could be found. Raises nothing, whatever the source is.
    """
    bench = bench or Bench(machine.resolve(DEVICE), "fast", Limits())
    try:
        translation = translate(bench, source)
        if arm.id.startswith(f"{arm.kernel}/{COUNTED} "):
            closed = next(_without_counted(bench, translation, arm), None)
        else:
            target = Target.of(translation, arm)
            closed = _close(bench, target, _MOST_PLACES) if target is not None else None
    except (NoTranslation, ValueError, IndexError, KeyError, TypeError, RecursionError):
        # Whatever a hostile program brings about, there is then no edit of it.
        return []
    return [] if closed is None else [closed]


def _close(bench: Bench, target: Target, places: int) -> str | None:
    """The source after the edit that costs no other condition, or the fewest of them."""
    best: tuple[int, str] | None = None
    for text in list(_edited(target))[:_MOST_TRIED]:
        try:
            translation = translate(bench, text)
        except NoTranslation:
            continue
        left = target.again(translation)
        if left is not None and left.predicate.places == target.predicate.places:
            continue
        if left is not None:
            further = _close(bench, left, places - 1) if places > 1 else None
            if further is None:
                continue
            text = further
        lost = len(target.others - other_keys(translation, target.kernel, target.side.key))
        if best is None or lost < best[0]:
            best = lost, text
        if lost == 0:
            break
    return None if best is None else best[1]


def _without_counted(bench: Bench, translation: Translation, arm: Arm) -> Iterator[str]:
    """By an edit of the condition that was counted, the way that it stands in the source."""
    number, _, side = arm.id.removeprefix(f"{arm.kernel}/{COUNTED} ").partition("/")
    listed = with_counters(translation.program).counted
    code = next(codes_of(translation, [arm.kernel]), None)
    if not number.isdigit() or int(number) >= len(listed) or code is None:
        return
    counted = listed[int(number)]
    token = next(translation.map.frames(translation.program, counted.instruction.place), None)
    if token is None:
        return
    source = source_of(translation.source)
    for edit in unique(_counted_edits(translation, code, source, counted, side, token)):
        text = source.edited(edit)
        try:
            translate(bench, text)
        except NoTranslation:
            continue
        yield text


def _counted_edits(
    translation: Translation, code: KernelCode, source: Source, counted: Counted, side: str, token: int
) -> Iterator[Edit]:
    kind, _, number = side.partition(" ")
    if counted.kind == "table":
        table = plain_name(counted.instruction.operands[0])
        yield from entry_edit(source, translation.map, table, int(number))
        return
    cases = (int(number),) if kind == "case" and re.fullmatch(r"-?\d+", number) else ()
    predicate = Predicate("", 0, counted.kind, (), (), ())
    target = Target(translation, code, predicate, Side(side, "", "", {}, -1, cases), frozenset())
    if cases or side in ("true", "false", "default"):
        yield from Editor(target, source, token, side == "false").of_counted()


def _edited(target: Target) -> Iterator[str]:
    source = source_of(target.translation.source)
    tokens = tokens_of(target.translation, target.code.module, target.predicate.places)[:6]
    beside = [one for token in tokens for one in comparisons_of_statement(target.translation, token)]
    edits = [edit for token in dict.fromkeys((*tokens, *beside)) for edit in Editor(target, source, token).edits()]
    ways = ways_to_close(target.translation, target.code, target.predicate, target.side, tokens)
    combined = [_together(target, source, way) for way in ways]
    for edit in unique([*(one for one in combined if one and target.predicate.kind == "switch"), *edits, *combined]):
        yield source.edited(edit)


def _together(target: Target, source: Source, way: Iterable[Written]) -> Edit | None:
    """One edit that gives every one of the comparisons its outcome."""
    found: dict[int, Insertion] = {}
    for one in way:
        edit = next(Editor(target, source, one.token, one.always).at_token(), None)
        if edit is None:
            return None
        found.update((part.offset, part) for part in edit)
    return tuple(found.values())
