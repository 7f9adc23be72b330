"""Does something hold at a point and not around it? The same question for arms, for times and for right answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from kfp.auditing.points import ALL_SIZES, CONTEXT, Point

# "isolated": it holds at the point, on both sides of it no more. "one-sided": no more on one side, where the other has
# no neighbours; "unknown" if it has some of which nothing is known. "class": it ends with the alignment, or beyond a
# bound: other points of the same kind have it too.
Isolation: TypeAlias = Literal["isolated", "one-sided", "class", "everywhere", "unknown"]


class Seen(NamedTuple):
    point: Point
    holds: bool | None


class Along(NamedTuple):
    axis: str
    isolation: Isolation


def along_axes(seen: Iterable[Seen]) -> tuple[Along, ...]:
    """One answer per axis along which a neighbour was seen, of a point at which it does hold."""
    by_axis: dict[str, list[Seen]] = defaultdict(list)
    for one in seen:
        by_axis[one.point.axis].append(one)
    return tuple(Along(axis, _along(list_)) for axis, list_ in by_axis.items())


def _along(seen: list[Seen]) -> Isolation:
    """Where it holds at other known values, they may be all that it names, or belong to a class: if it takes them to
    tell, nobody can.
    """
    telling = [one for one in seen if not (one.point.known and one.holds)]
    found, without = _judged(seen), _judged(telling)
    return without if without in (found, "isolated") else "unknown"


def _judged(seen: list[Seen]) -> Isolation:
    known = [one for one in seen if one.holds is not None]
    if not known:
        return "unknown"
    if all(one.holds for one in known):
        return "everywhere"
    ends = {side: _ends([one for one in known if one.point.side == side]) for side in (-1, 1)}
    if ends[-1] and ends[1]:
        return "isolated"
    for side in (-1, 1):
        if ends[-side] and not any(one.point.side == side for one in known):
            return "unknown" if any(one.point.side == side for one in seen) else "one-sided"
    return "class"


def _ends(side: list[Seen]) -> bool:
    """Not for want of alignment: an aligned neighbour lacks it too, or there are none but unaligned ones."""
    if any(one.point.axis == CONTEXT for one in side):
        # Much is moved at once there, so that one of many says little.
        return all(one.holds is False for one in side)
    aligned = [one for one in side if one.point.aligned]
    return any(one.holds is False for one in aligned or side)


def returns_further_out(seen: Iterable[Seen]) -> bool:
    """It holds at a neighbour that keeps more of the alignment than one, on the same side, at which it doesn't: that
    alignment is what it takes, whatever the value.
    """
    at = {(one.point.side, one.point.step): one.holds for one in seen}
    return any(at.get((side, "mid")) is False and at.get((side, "far")) for side in (-1, 1))


def isolates(answers: Sequence[Along], *, one_sided: bool = True) -> bool:
    """Along some axis; but what holds where all sizes are moved together belongs to their ratio, not to values."""
    if any(one.axis == ALL_SIZES and one.isolation in ("everywhere", "class") for one in answers):
        return False
    return any(one.isolation == "isolated" or (one_sided and one.isolation == "one-sided") for one in answers)
