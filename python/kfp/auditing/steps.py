"""E3a: is the gain, and the time per unit of work, a step exactly at the measured points?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kfp.auditing.evidence import item, not_possible
from kfp.auditing.isolation import Along, Seen, along_axes
from kfp.auditing.lab import right, wrong
from kfp.auditing.points import Point
from kfp.auditing.results import EvidenceItem, Probe, Word
from kfp.gating.verdicts import place

# A neighbour keeps the gain if it has more than half of its logarithm, and loses it with less.
_KEPT = 0.5


def neighbour_sweep(
    centres: Mapping[str, Probe], neighbours: Sequence[tuple[Point, Probe]], threshold: float
) -> EvidenceItem:
    """``centres`` by label are the measured configurations, each compared in pairs like its neighbours."""
    probes = (*centres.values(), *(probe for _, probe in neighbours))
    by_centre: dict[str, list[Seen]] = {label: [] for label in centres}
    for point, probe in neighbours:
        by_centre[point.beside].append(Seen(point, holds(centres[point.beside], probe, threshold)))
    words: list[Word] = []
    texts: list[str] = []
    for label, seen in by_centre.items():
        centre = centres[label]
        if not seen or centre.interval is None or place(centre.interval, threshold) != "above":
            continue
        for along in along_axes(seen):
            word = _WORDS.get(along.isolation)
            if word is not None:
                words.append(word)
                texts.append(_text(label, along))
    if any(wrong(probe) for _, probe in neighbours):
        words.append("wrong beside")
        bad = next(probe for _, probe in neighbours if wrong(probe))
        texts.insert(0, f"{bad.verdict} beside a measured point, at {bad.label}: {bad.detail}")
    if not words:
        return not_possible("E3a", "no measured point with a gain has neighbours that could be measured")
    if "step" in words:
        words = [word for word in words if word not in ("smooth", "size class")]
    elif "size class" in words:
        words = [word for word in words if word != "smooth"]
    shown = [text for text in texts if "smooth" not in text] or ["the gain is smooth around the measured points"]
    return item("E3a", "; ".join(dict.fromkeys(shown[:3])), words, probes)


_WORDS: dict[str, Word] = {
    "isolated": "step",
    "one-sided": "context collapse",
    "class": "size class",
    "everywhere": "smooth",
}


def _text(label: str, along: Along) -> str:
    said = {
        "isolated": "the gain is there at {label} alone, along {axis}: a step",
        "one-sided": "the gain of {label} is gone where {axis} is moved",
        "class": "the gain of {label} holds for a class of {axis}, by alignment or up to a bound",
        "everywhere": "smooth around {label} along {axis}",
    }
    return said[along.isolation].format(label=label, axis=along.axis)


def holds(centre: Probe, neighbour: Probe, threshold: float) -> bool | None:
    """Whether the gain of ``centre`` is there at ``neighbour``, too; None where the intervals leave it open.

    A loss is one only where the candidate's own time per unit of work rises: a reference that happens to be slow at the
    measured point makes a step that is not the candidate's.
    """
    if centre.interval is None or neighbour.interval is None or not right(neighbour):
        return None
    half = max(math.exp(_KEPT * math.log(centre.interval.ratio)), 1.0)
    if neighbour.interval.lower > half:
        return True
    if neighbour.interval.upper >= min(half, centre.interval.lower):
        return None
    if neighbour.interval.upper > threshold and neighbour.interval.upper * threshold > centre.interval.lower:
        return None
    return None if _is_the_references(centre, neighbour) else False


def _is_the_references(centre: Probe, neighbour: Probe) -> bool:
    mine = slowdown(centre.seconds, centre.work, neighbour.seconds, neighbour.work)
    theirs = slowdown(centre.reference_seconds, centre.work, neighbour.reference_seconds, neighbour.work)
    if mine is None or theirs is None:
        return False
    # Of the lost gain more than half is that the reference has become faster.
    return mine < 0.5 * (mine - theirs)


def slowdown(
    seconds: float | None, work: float | None, other_seconds: float | None, other_work: float | None
) -> float | None:
    """Logarithm of how much longer a unit of work takes at the other configuration."""
    if not (seconds and work and other_seconds and other_work):
        return None
    return math.log(other_seconds / other_work) - math.log(seconds / work)
