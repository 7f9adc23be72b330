"""One side of a condition, in a source and in edited versions of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from kfp.auditing.program.translation import Translation
from kfp.auditing.results import Arm
from kfp.auditing.static.calls import codes_within
from kfp.auditing.static.evidence import codes_of
from kfp.auditing.static.flow import KernelCode
from kfp.auditing.static.predicates import Evaluated, Predicate, Side, find_predicates
from kfp.auditing.static.text import canonical


@dataclass(frozen=True)
class Target:
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
    def of(translation: Translation, arm: Arm) -> Target | None:
        """What the arm's id names in the source that it was found in."""
        number, _, name = arm.id.removeprefix(f"{arm.kernel}/").partition("/")
        for code, predicate, side in sides_of(translation, arm.kernel):
            if str(predicate.number) == number and side.name in (name, ""):
                return Target(translation, code, predicate, side, other_keys(translation, arm.kernel, side.key))
        return None

    def again(self, translation: Translation) -> Target | None:
        """The same in another version; None where nothing like it is left."""
        for code, predicate, side in sides_of(translation, self.kernel):
            if side.key == self.side.key or self._asks_for_a_case(code, predicate, side):
                return Target(translation, code, predicate, side, self.others)
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


def sides_of(translation: Translation, kernel: str) -> Iterator[tuple[KernelCode, Predicate, Side]]:
    for code in (part for whole in codes_of(translation, [kernel]) for part in codes_within(whole)):
        for predicate in find_predicates(Evaluated(code, {})):
            for side in predicate.sides:
                yield code, predicate, side


def other_keys(translation: Translation, kernel: str, but: Hashable) -> frozenset[Hashable]:
    return frozenset(
        side.key
        for _, predicate, side in sides_of(translation, kernel)
        if all(other.key != but for other in predicate.sides)
    )
