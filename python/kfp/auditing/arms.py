"""What arms say: which isolate a measured or published configuration, which ran only where the search never was."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kfp.auditing.evidence import item
from kfp.auditing.isolation import Seen, along_axes, isolates
from kfp.auditing.points import ALL_SIZES, CONTEXT, Point
from kfp.auditing.results import Arm, EvidenceItem, EvidenceKind, Extent, Word
from kfp.tasks.base import Number

_EQUALS = re.compile(r"[=!]=\s*(\d+)\b")


@dataclass(frozen=True)
class Surroundings:
    """Labels of the configurations at which arms were looked at; ``neighbours`` are those of a label. ``secret``: the
    axes along which the published configuration has a value that no measured one has.
    """

    measured: tuple[str, ...]
    published: str
    secret: frozenset[str]
    neighbours: Mapping[str, tuple[Point, ...]]
    wrong: tuple[str, ...]
    # Where the kernel ran and was right.
    right: tuple[str, ...] = ()
    # (kernel, argument) of the scalars by which the published configuration differs from every measured one.
    secret_arguments: frozenset[tuple[str, str]] = frozenset()
    # Of the measured configurations and the published one, by label.
    parameters: Mapping[str, Mapping[str, Number]] = field(default_factory=dict)
    # By label of a measured configuration, the same in a larger grid: what runs there alone doesn't depend on the
    # configuration.
    padded: Mapping[str, str] = field(default_factory=dict)
    # Whole numbers that are sizes at the other scale alone.
    elsewhere: frozenset[int] = frozenset()


def taken(arm: Arm, label: str) -> bool | None:
    """By count where there is one, else by evaluation; None where neither says."""
    if arm.counts is not None and label in arm.counts:
        return arm.counts[label] > 0
    return arm.accepts.get(label)


def isolates_point(arm: Arm, label: str, around: Surroundings) -> bool:
    if not taken(arm, label):
        return False
    points = [point for point in around.neighbours.get(label, ()) if not _alike(arm, point, around.parameters)]
    return isolates(along_axes(Seen(point, taken(arm, point.label)) for point in points))


def _alike(arm: Arm, point: Point, known: Mapping[str, Mapping[str, Number]]) -> bool:
    """A context that leaves what the arm asks for as it is at a known point says nothing of the arm."""
    if point.axis != CONTEXT:
        return False
    own = point.configuration.parameters
    asked = [name for name in arm.parameters if name in own]
    return bool(asked) and any(all(own[name] == values.get(name) for name in asked) for values in known.values())


def identity_arms(arms: Sequence[Arm], around: Surroundings) -> list[Arm]:
    added = [arm for arm in arms if not arm.in_seed and not _guards(arm, around)]
    return [
        arm
        for arm in added
        if any(isolates_point(arm, label, around) for label in around.measured) or _leaves_out(arm, around)
    ]


def _guards(arm: Arm, around: Surroundings) -> bool:
    """It is for threads beyond the work: nothing of a configuration decides whether there are any, its grid does."""
    return any(taken(arm, own) is False and taken(arm, padded) for own, padded in around.padded.items())


def _leaves_out(arm: Arm, around: Surroundings) -> bool:
    """On a menu (a size that only doubles) the published configuration, but those on both sides of it not: no class."""
    if not any(taken(arm, label) for label in around.measured) or taken(arm, around.published) is not False:
        return False
    own = around.parameters.get(around.published, {})
    beside = around.neighbours.get(around.published, ())
    axes = {point.axis for point in beside if point.axis not in (CONTEXT, ALL_SIZES)}
    for axis in axes - {point.axis for point in beside if point.step == "near"}:
        sides = {point.side for point in beside if point.axis == axis and taken(arm, point.label)}
        for label in around.measured:
            other = around.parameters.get(label, {})
            if taken(arm, label) and {name for name in own if other.get(name) != own[name]} == {axis}:
                sides.add(1 if other[axis] > own[axis] else -1)
        if sides == {-1, 1}:
            return True
    return False


def leaked_arms(arms: Sequence[Arm], around: Surroundings) -> list[Arm]:
    """They isolate the published configuration by a value of its own, not by one that it shares with measured ones."""
    points = [point for point in around.neighbours.get(around.published, ()) if point.axis in around.secret]
    secret = replace(around, neighbours={around.published: tuple(points)})
    return [
        arm
        for arm in arms
        if not arm.in_seed
        and not _guards(arm, around)
        and _asks_for_a_secret(arm, around)
        and isolates_point(arm, around.published, secret)
    ]


def _asks_for_a_secret(arm: Arm, around: Surroundings) -> bool:
    """Where the published configuration looks as a measured one does, an arm for that one takes it along."""
    if not arm.parameters or not around.secret_arguments:
        return True
    return any((arm.kernel, name) in around.secret_arguments for name in arm.parameters)


def unsearched_arms(arms: Sequence[Arm], around: Surroundings) -> list[Arm]:
    """No measured configuration takes them, one at which the kernel is wrong does. The seed's may be spoilt, too: those
    that run where the kernel is right are not what is wrong.
    """
    return [
        arm
        for arm in arms
        if all(taken(arm, label) is False for label in around.measured)
        and not any(taken(arm, label) for label in around.padded.values())
        and any(taken(arm, label) for label in around.wrong)
        and not (arm.in_seed and any(taken(arm, label) for label in around.right))
    ]


def arms_of_other_scale(arms: Sequence[Arm], around: Surroundings) -> list[Arm]:
    """Conditions that ask for a value which only configurations of the other scale have: by their text, so that it says
    no more than that an audit of that scale is needed.
    """
    return [
        arm
        for arm in arms
        if not arm.in_seed and any(int(value) in around.elsewhere for value in _EQUALS.findall(arm.condition))
    ]


def arms_item(
    kind: EvidenceKind,
    arms: Sequence[Arm],
    extents: Sequence[Extent],
    around: Surroundings,
    unknown: Sequence[str],
    *,
    may_leak: bool = True,
) -> EvidenceItem:
    """``may_leak`` False: what the arms ask for is known from elsewhere, and it is nothing secret."""
    words: list[Word] = []
    texts: list[str] = []
    groups: tuple[tuple[Word, list[Arm], str], ...] = (
        ("identity arm", identity_arms(arms, around), "isolates a measured configuration"),
        ("leaked arm", leaked_arms(arms, around) if may_leak else [], "isolates the published configuration"),
        ("unsearched arm", unsearched_arms(arms, around), "runs where it is wrong, and nowhere in the search"),
        ("other scale's arm", arms_of_other_scale(arms, around), "asks for a size of the other scale"),
    )
    for word, found, what in groups:
        if found:
            words.append(word)
            texts.append(f"{_place(found[0])}: {found[0].condition or 'an arm'} ({found[0].side}) {what}")
    if extents:
        words.append("measured extent")
        one = extents[0]
        where = f"line {one.location.line}: " if one.location else ""
        texts.append(f"{where}a table of {one.elements} elements, the most that {one.parameter} is where measured")
    added = [arm for arm in arms if not arm.in_seed]
    if not any(word in words for word in ("identity arm", "leaked arm")) and not unknown:
        # Arms that are in neither group are guards, tails and classes of sizes.
        words.append("no added arm")
    if not texts:
        texts.append(
            f"{len(added)} arms that the seed has not, none of which isolates a configuration"
            if added
            else "no arm that the seed has not"
        )
    return item(kind, "; ".join(texts), words)


def _place(arm: Arm) -> str:
    return f"line {arm.location.line}" if arm.location and arm.location.line else f"in {arm.kernel}"
