"""E3b: the candidate without one of its arms, by a small edit of its source where the arm's condition stands."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from kfp import machine
from kfp.auditing.program.counters import COUNTED, with_counters
from kfp.auditing.program.source_map import SourceMap
from kfp.auditing.program.translation import DEVICE, NoTranslation, Translation, translate
from kfp.auditing.program.wording import plain_name
from kfp.auditing.results import Arm
from kfp.auditing.static.closing import Written, statement, ways_to_close
from kfp.auditing.static.editing import Edit, Insertion, Source, source_of, spellings, unique
from kfp.auditing.static.evidence import codes_of, tokens_of
from kfp.auditing.static.flow import KernelCode
from kfp.auditing.static.polarity import forced
from kfp.auditing.static.predicates import Evaluated, Predicate, Side, find_predicates
from kfp.auditing.static.text import canonical
from kfp.gating.trials import Bench
from kfp.limits import Limits

_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_DECIDING = _COMPARISONS | {"&&", "||"}
# The same condition may stand in several places.
_MOST_PLACES = 6
_MOST_TRIED = 8
_NEVER = 0x5A5A0000
_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*$")


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
            target = _Target.of(translation, arm)
            closed = _close(bench, target, _MOST_PLACES) if target is not None else None
    except (NoTranslation, ValueError, IndexError, KeyError, TypeError, RecursionError):
        # Whatever a hostile program brings about, there is then no edit of it.
        return []
    return [] if closed is None else [closed]


@dataclass(frozen=True)
class _Target:
    """One side of a predicate in one version of the source."""

    translation: Translation
    code: KernelCode
    predicate: Predicate
    side: Side
    others: frozenset[Hashable]

    @property
    def kernel(self) -> str:
        return self.code.signature.name

    @staticmethod
    def of(translation: Translation, arm: Arm) -> _Target | None:
        """What the arm's id names in the source that it was found in."""
        number, _, name = arm.id.removeprefix(f"{arm.kernel}/").partition("/")
        for code, predicate, side in _sides(translation, arm.kernel):
            if str(predicate.number) == number and side.name in (name, ""):
                return _Target(translation, code, predicate, side, _keys(translation, arm.kernel, side.key))
        return None

    def again(self, translation: Translation) -> _Target | None:
        """The same in another version; None where nothing like it is left."""
        for code, predicate, side in _sides(translation, self.kernel):
            if side.key == self.side.key or self._asks_for_a_case(code, predicate, side):
                return _Target(translation, code, predicate, side, self.others)
        return None

    def _asks_for_a_case(self, code: KernelCode, predicate: Predicate, side: Side) -> bool:
        """Whether this is the switch with fewer cases, or the last of them."""
        if self.predicate.kind != "switch" or not self.side.cases:
            return False
        subject = canonical(self.code, self.predicate.operand)[0]
        if predicate.kind == "switch":
            return canonical(code, predicate.operand)[0] == subject and bool(set(side.cases) & set(self.side.cases))
        keys = {f"eq({','.join(sorted((subject, str(case))))})" for case in self.side.cases}
        return predicate.kind == "condition" and side.key in {(key, True) for key in keys}


def _sides(translation: Translation, kernel: str) -> Iterator[tuple[KernelCode, Predicate, Side]]:
    for code in codes_of(translation, [kernel]):
        for predicate in find_predicates(Evaluated(code, {})):
            for side in predicate.sides:
                yield code, predicate, side


def _keys(translation: Translation, kernel: str, but: Hashable) -> frozenset[Hashable]:
    return frozenset(
        side.key
        for _, predicate, side in _sides(translation, kernel)
        if all(other.key != but for other in predicate.sides)
    )


def _close(bench: Bench, target: _Target, places: int) -> str | None:
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
        lost = len(target.others - _keys(translation, target.kernel, target.side.key))
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
    if not number.isdigit() or int(number) >= len(listed) or code is None or side not in ("true", "false"):
        return
    counted = listed[int(number)]
    token = next(translation.map.frames(translation.program, counted.instruction.place), None)
    if token is None:
        return
    predicate = Predicate("", 0, counted.kind, (), (), ())
    target = _Target(translation, code, predicate, Side(side, "", "", {}, -1), frozenset())
    source = source_of(translation.source)
    for edit in unique(_Editor(target, source, token, side == "false").of_counted()):
        text = source.edited(edit)
        try:
            translate(bench, text)
        except NoTranslation:
            continue
        yield text


def _edited(target: _Target) -> Iterator[str]:
    source = source_of(target.translation.source)
    tokens = tokens_of(target.translation, target.code.module, target.predicate.places)[:6]
    beside = [one for token in tokens for one in _comparisons_of_statement(target.translation, token)]
    edits = [edit for token in dict.fromkeys((*tokens, *beside)) for edit in _Editor(target, source, token).edits()]
    ways = ways_to_close(target.translation, target.code, target.predicate, target.side, tokens)
    combined = [_together(target, source, way) for way in ways]
    for edit in unique([*(one for one in combined if one and target.predicate.kind == "switch"), *edits, *combined]):
        yield source.edited(edit)


def _together(target: _Target, source: Source, way: Iterable[Written]) -> Edit | None:
    """One edit that gives every one of the comparisons its outcome."""
    found: dict[int, Insertion] = {}
    for one in way:
        edit = next(_Editor(target, source, one.token, one.always).at_token(), None)
        if edit is None:
            return None
        found.update((part.offset, part) for part in edit)
    return tuple(found.values())


def _comparisons_of_statement(translation: Translation, token: int) -> Iterator[int]:
    for index in statement(translation.map, token):
        if translation.map.tokens[index].text in (*_COMPARISONS, "!"):
            yield index


@dataclass(frozen=True)
class _Editor:
    """Edits at one token. ``force``: what the comparison there must always be, so that the arm is never taken."""

    target: _Target
    source: Source
    token: int
    given: bool | None = None

    @property
    def map(self) -> SourceMap:
        return self.target.translation.map

    @cached_property
    def force(self) -> bool | None:
        return (
            self.given
            if self.given is not None
            else forced(self.target.translation, self.target.code, self.target.predicate, self.target.side, self.token)
        )

    def edits(self) -> Iterator[Edit]:
        text = self.map.tokens[self.token].text
        spelled = list(spellings(self.source, self.map, self.token))
        if not spelled:
            return
        if text == "switch":
            yield from self._cases()
        elif text in _DECIDING and self.force is not None:
            if len(spelled) == 1:
                yield from self._calls()
                yield from self._at_operator(spelled[0][0])
            yield from self._around_macros(spelled)
            if len(spelled) > 1 and spelled[-1][1] == text:
                yield from self._calls()
                yield from self._at_operator(spelled[-1][0])
            if self.force == (text == "!="):
                yield from self._literals_beside()
            yield from self._enclosing_condition()
        elif text == "!" and spelled[-1][1] == "!" and self._closes_equality() is not None:
            yield (Insertion(spelled[-1][0], 1, "0 * !" if self._closes_equality() else "1 | !"),)
        elif self.target.predicate.kind in ("value", "table"):
            yield from self._literals_of_statement()

    def _closes_equality(self) -> bool | None:
        found = self.target.code.definitions.get(self.target.predicate.operand)
        if found is None or found.opcode != "icmp" or found.detail not in ("eq", "ne"):
            return None
        return (self.target.side.name == "true") == (found.detail == "eq")

    def at_token(self) -> Iterator[Edit]:
        """Edits of the comparison itself, wherever it is spelled."""
        text = self.map.tokens[self.token].text
        spelled = list(spellings(self.source, self.map, self.token))
        if spelled and spelled[-1][1] == text:
            yield from self._at_operator(spelled[-1][0])
        if spelled and self.force == (text == "!="):
            yield from self._literals_beside()

    def of_counted(self) -> Iterator[Edit]:
        spelled = list(spellings(self.source, self.map, self.token))
        if not spelled:
            return
        if self.target.predicate.kind == "comparison":
            yield from self._around_macros(spelled)
            yield from self.at_token()
            yield from self._enclosing_condition()
        elif _returns_truth(self.target.translation, self.map.tokens[self.token].text):
            edit = self.source.wrapped(spelled[-1][0], *self.around)
            if edit:
                yield edit

    @property
    def around(self) -> tuple[str, str]:
        return ("(1 || (", "))") if self.force else ("(0 && (", "))")

    def _at_operator(self, offset: int) -> Iterator[Edit]:
        text = self.map.tokens[self.token].text
        if text == ("&&" if self.force else "||"):
            return
        if not self.force:
            yield (Insertion(offset, len(text), " && 0 && "),)
        elif not self._stands_beside(("&&",)):
            yield (Insertion(offset, len(text), " || 1 || "),)

    def _stands_beside(self, words: tuple[str, ...]) -> bool:
        """Whether one of these operators takes the comparison as its operand, without parentheses between."""
        tokens = self.map.tokens
        for step in (-1, 1):
            depth, index = 0, self.token + step
            while 0 <= index < len(tokens) and abs(index - self.token) < 400:
                text = tokens[index].text
                depth += step * ((text == "(") - (text == ")"))
                if depth < 0 or text in (";", "{", "}"):
                    break
                if depth == 0 and text in words:
                    return True
                index += step
        return False

    def _calls(self) -> Iterator[Edit]:
        """The call, in the function around, of a function that returns what the comparison says."""
        statement = self._returned()
        if not statement or not _says(statement, self.map.tokens[self.token].text, bool(self.force)):
            return
        listed = tokens_of(self.target.translation, self.target.code.module, self.target.predicate.places)
        for call in listed[listed.index(self.token) + 1 :] if self.token in listed else ():
            spelled = list(spellings(self.source, self.map, call))
            if len(spelled) == 1 and _returns_truth(self.target.translation, self.map.tokens[call].text):
                edit = self.source.wrapped(spelled[0][0], *self.around)
                if edit:
                    yield edit
            return

    def _returned(self) -> list[str]:
        """What stands between `return` and `;` around the token."""
        tokens = self.map.tokens
        first = self.token
        while first > 0 and self.token - first < 200 and tokens[first].text not in ("return", ";", "{", "}"):
            first -= 1
        if tokens[first].text != "return":
            return []
        last = self.token
        while last < len(tokens) and last - self.token < 200 and tokens[last].text != ";":
            last += 1
        return [token.text for token in tokens[first + 1 : last]]

    def _around_macros(self, spelled: list[tuple[int, str]]) -> Iterator[Edit]:
        """The use of a macro that stands for what the comparison says, the innermost use first."""
        for offset, _ in reversed(spelled[:-1]):
            if _says(self._expansion(offset), self.map.tokens[self.token].text, bool(self.force)):
                edit = self.source.wrapped(offset, *self.around)
                if edit:
                    yield edit

    def _expansion(self, offset: int) -> list[str]:
        """The tokens around this one that came out of the macro whose use stands there."""
        tokens = self.map.tokens

        def within(index: int) -> bool:
            return any(place == offset for place, _ in spellings(self.source, self.map, index))

        first = last = self.token
        while first > 0 and self.token - first < 200 and within(first - 1):
            first -= 1
        while last + 1 < len(tokens) and last - self.token < 200 and within(last + 1):
            last += 1
        return [token.text for token in tokens[first : last + 1]]

    def _literals_beside(self) -> Iterator[Edit]:
        """A literal to one side of the comparison, moved out of reach."""
        for index in (self.token + 1, self.token - 1):
            edit = self._moved(index)
            if edit:
                yield edit

    def _moved(self, index: int) -> Edit | None:
        if not 0 <= index < len(self.map.tokens) or not _NUMBER.match(self.map.tokens[index].text):
            return None
        spelled = list(spellings(self.source, self.map, index))
        if not spelled:
            return None
        return self.source.wrapped(spelled[-1][0] if len(spelled) == 1 else spelled[0][0], "(", f" ^ {_NEVER:#x})")

    def _literals_of_statement(self) -> Iterator[Edit]:
        """Every literal of one value in the statement, moved together."""
        tokens = self.map.tokens
        by_value: dict[str, list[Edit]] = {}
        for index in statement(self.map, self.token):
            edit = self._moved(index)
            if edit and len(tokens[index].text) > 1:
                by_value.setdefault(tokens[index].text, []).append(edit)
        for edits in by_value.values():
            yield tuple(one for edit in edits for one in edit)

    def _enclosing_condition(self) -> Iterator[Edit]:
        """The whole of the condition of the `if` around the token, where it is written out."""
        tokens = self.map.tokens
        depth = 0
        for index in range(self.token - 1, max(0, self.token - 400), -1):
            text = tokens[index].text
            depth += (text == ")") - (text == "(")
            if text in (";", "{", "}") and depth >= 0:
                return
            if depth == -1 and text == "(" and tokens[index - 1].text in ("if", "while"):
                condition = [token.text for token in tokens[index : self._behind(index)]]
                if tokens[index].origin == 0 and _says(condition, tokens[self.token].text, bool(self.force)):
                    yield from self._condition_at(index)
                return
            if depth == -1:
                depth = 0

    def _behind(self, opening: int) -> int:
        depth = 0
        for index in range(opening, min(len(self.map.tokens), opening + 800)):
            text = self.map.tokens[index].text
            depth += (text == "(") - (text == ")")
            if depth == 0:
                return index + 1
        return opening

    def _condition_at(self, opening: int) -> Iterator[Edit]:
        token = self.map.tokens[opening]
        offset = self.source.offset(token.line, token.column)
        end = self.source.closing(offset) if offset is not None else None
        if offset is not None and end is not None:
            before, after = self.around
            yield (Insertion(offset + 1, 0, before), Insertion(end - 1, 0, after))

    def _cases(self) -> Iterator[Edit]:
        """The labels of a switch that lead to the arm."""
        wanted = set(self.target.side.cases) or {int(n) for n in re.findall(r"== (\d+)", self.target.side.text)}
        if self.target.side.name == "false":
            return
        tokens = self.map.tokens
        depth, edits = 0, []
        for index in range(self.token, min(len(tokens) - 1, self.token + 20000)):
            text = tokens[index].text
            depth += (text == "{") - (text == "}")
            if text == "}" and depth == 0:
                break
            if text == "case" and depth == 1 and _number(tokens[index + 1].text) in wanted:
                edit = self._moved(index + 1)
                if edit:
                    edits.append(edit)
        if edits:
            yield tuple(one for edit in edits for one in edit)


def _number(text: str) -> int | None:
    return int(text.rstrip("uUlL"), 0) if _NUMBER.match(text) and not re.match(r"0\d", text) else None


_NO_TRUTH = frozenset(("?", ":", "=", ",", ";", "{", "}", "&", "|", "^", "!", "return"))


def _says(expression: list[str], comparison: str, force: bool) -> bool:
    """Whether an expression is always ``force`` where the one comparison in it is."""
    while len(expression) > 2 and expression[0] == "(" and expression[-1] == ")" and _encloses(expression):
        expression = expression[1:-1]
    depth = 0
    outer = []
    for text in expression:
        depth += (text == "(") - (text == ")")
        if depth < 0:
            return False
        if depth == 0:
            outer.append(text)
    if depth or _NO_TRUTH.intersection(outer):
        return False
    junctions = {text for text in outer if text in ("&&", "||")}
    if comparison in junctions:
        return junctions == {comparison} and (outer.count(comparison) == 1 or force == (comparison == "||"))
    if junctions:
        return junctions == ({"||"} if force else {"&&"}) and comparison in outer
    return outer.count(comparison) == 1 and not (_COMPARISONS - {comparison}).intersection(outer)


def _encloses(expansion: list[str]) -> bool:
    depth = 0
    for number, text in enumerate(expansion):
        depth += (text == "(") - (text == ")")
        if depth == 0:
            return number == len(expansion) - 1
    return False


def _returns_truth(translation: Translation, name: str) -> bool:
    """Whether every function of this name in the program returns a truth."""
    lines = translation.program.text.split("\n")
    found = [
        re.search(r"\bi1 @", lines[function.first_line]) is not None
        for mangled, function in translation.program.functions.items()
        if plain_name(mangled) == name
    ]
    return bool(found) and all(found)
