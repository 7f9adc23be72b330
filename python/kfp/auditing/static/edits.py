"""Edits of the source at the token of a comparison, after which the comparison has one outcome for good."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice

from kfp.auditing.program.source_map import SourceMap
from kfp.auditing.program.translation import Translation
from kfp.auditing.program.wording import plain_name
from kfp.auditing.static.closing import statement
from kfp.auditing.static.editing import Edit, Insertion, Source, spellings
from kfp.auditing.static.entries import entry_edits
from kfp.auditing.static.evidence import tokens_of
from kfp.auditing.static.flow import address
from kfp.auditing.static.polarity import forced
from kfp.auditing.static.predicates import table_loads
from kfp.auditing.static.targets import Target

_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_DECIDING = _COMPARISONS | {"&&", "||"}
_NEVER = 0x5A5A0000
_MOST_SUBJECTS = 3
_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*$")


def comparisons_of_statement(translation: Translation, token: int) -> Iterator[int]:
    for index in statement(translation.map, token):
        if translation.map.tokens[index].text in (*_COMPARISONS, "!"):
            yield index


@dataclass(frozen=True)
class Editor:
    """Edits at one token. ``force``: what the comparison there must always be, so that the arm is never taken."""

    target: Target
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
            yield from self._of_switch()
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
            yield from self._entries()
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
        if self.target.predicate.kind == "switch":
            yield from self._of_switch()
        elif self.target.predicate.kind == "comparison":
            yield from self._around_macros(spelled)
            yield from self.at_token()
            yield from self._enclosing_condition()
        elif returns_truth(self.target.translation, self.map.tokens[self.token].text):
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
            if len(spelled) == 1 and returns_truth(self.target.translation, self.map.tokens[call].text):
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

    def _of_switch(self) -> Iterator[Edit]:
        if self.target.side.name == "default":
            yield from self._subject_fixed()
        elif self.target.side.name != "false":
            yield from self._cases()

    def _cases(self) -> Iterator[Edit]:
        """The labels of a switch that lead to the arm."""
        wanted = set(self.target.side.cases) or {int(n) for n in re.findall(r"== (\d+)", self.target.side.text)}
        labels = [index for index in self._labels() if _number(self.map.tokens[index].text) in wanted]
        edits = [edit for index in labels if (edit := self._moved(index))]
        if edits:
            yield tuple(one for edit in edits for one in edit)

    def _labels(self) -> Iterator[int]:
        """The values of the cases of the switch."""
        tokens = self.map.tokens
        depth = 0
        for index in range(self.token, min(len(tokens) - 1, self.token + 20000)):
            text = tokens[index].text
            depth += (text == "{") - (text == "}")
            if text == "}" and depth == 0:
                return
            if text == "case" and depth == 1:
                yield index + 1

    def _subject_fixed(self) -> Iterator[Edit]:
        """One of the cases always, so that the default never is taken."""
        tokens = self.map.tokens
        opening = self.token + 1
        if opening >= len(tokens) or tokens[opening].text != "(" or tokens[opening].origin != 0:
            return
        offset = self.source.offset(tokens[opening].line, tokens[opening].column)
        end = self.source.closing(offset) if offset is not None else None
        if offset is None or end is None:
            return
        for index in islice(self._labels(), _MOST_SUBJECTS):
            value = _number(tokens[index].text)
            if value is not None:
                yield Insertion(offset + 1, 0, "0 * ("), Insertion(end - 1, 0, f") + {value}")

    def _entries(self) -> Iterator[Edit]:
        """Of the tables that the value is made of, the entries that give it; else all that aren't the usual ones."""
        found = self.target.code.definitions.get(self.target.predicate.operand)
        for load in table_loads(self.target.code, found) if found is not None else ():
            place = address(self.target.code, load.operands[0])
            table = plain_name(str(place.index)) if place is not None else ""
            shown = self.target.side.name.removeprefix("is ")
            yield from entry_edits(self.source, self.map, table, partial(_is_shown, shown))
            yield from entry_edits(self.source, self.map, table, lambda text, usual: text != usual)


def _is_shown(shown: str, text: str, _usual: str) -> bool:
    """Whether a literal is the value that is ``shown``, as the names of sides are."""
    number = _number(text)
    if number is not None and shown == str(number):
        return True
    try:
        return f"{float(text.replace(' ', '').rstrip('fFhH')):g}" == shown
    except ValueError:
        return False


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


def returns_truth(translation: Translation, name: str) -> bool:
    """Whether every function of this name in the program returns a truth."""
    lines = translation.program.text.split("\n")
    found = [
        re.search(r"\bi1 @", lines[function.first_line]) is not None
        for mangled, function in translation.program.functions.items()
        if plain_name(mangled) == name
    ]
    return bool(found) and all(found)
