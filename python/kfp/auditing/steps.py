"""E3a: is the gain, and the time per unit of work, a step exactly at the measured points?"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from kfp.auditing.isolation import Seen, along_axes, isolates, returns_further_out
from kfp.auditing.lab import right, wrong
from kfp.auditing.points import Point
from kfp.auditing.results import Probe, Word
from kfp.timing.statistics import Interval

# A neighbour keeps the gain if it has more than half of its logarithm, and loses it with less.
_KEPT = 0.5


def beside(
    right_at: Collection[str], published: str, secret: Collection[str], neighbours: Sequence[tuple[Point, Probe]]
) -> tuple[list[Word], list[str]]:
    """Of runs without times: wrong beside a known point, or right at the published one alone, along a ``secret`` axis:
    one along which it has a value that no measured point has.
    """
    bad = [probe for _, probe in neighbours if wrong(probe)]
    if not bad:
        return [], []
    words: list[Word] = ["wrong beside"]
    texts = [f"{bad[0].verdict} beside a known point, at {bad[0].label}: {bad[0].detail}"]
    around: list[Seen] = []
    for axis in sorted(secret):
        seen = [
            Seen(point, right(probe)) for point, probe in neighbours if (point.beside, point.axis) == (published, axis)
        ]
        around += [] if returns_further_out(seen) else seen
    if published in right_at and isolates(along_axes(around), one_sided=False):
        words.append("published island")
        texts.append(f"{published} is right, and nothing beside it")
    return words, texts


def neighbour_sweep(
    centres: Mapping[str, Probe],
    published: str,
    secret: Collection[str],
    neighbours: Sequence[tuple[Point, Probe]],
    threshold: float,
    unseen: Sequence[Point] = (),
) -> tuple[list[Word], list[str]]:
    """``centres`` by label are the configurations with a gain, each compared in pairs like its ``neighbours``; further
    ones are ``unseen``.
    """
    words: list[Word] = []
    texts: list[str] = []
    answered = False
    for label, centre in centres.items():
        seen = [Seen(point, holds(centre, probe, threshold)) for point, probe in neighbours if point.beside == label]
        answers = along_axes([*seen, *(Seen(point, None) for point in unseen if point.beside == label)])
        for along in answers:
            word = _WORDS.get(along.isolation)
            if along.isolation == "isolated" and not isolates(answers):
                word = "size class"
            answered = answered or along.isolation != "unknown"
            if label == published:
                # Nothing else of it says anything of what was measured.
                word = "published island" if word == "step" and along.axis in secret else None
            if word is not None:
                words.append(word)
                texts.append(_TEXTS[word].format(label=label, axis=along.axis))
    if neighbours and not answered:
        return ["cause open"], ["the times leave open whether there is a step"]
    if "step" in words:
        words = [word for word in words if word not in ("smooth", "size class")]
    elif "size class" in words:
        words = [word for word in words if word != "smooth"]
    telling = [_TEXTS[word].split("{")[0] for word in words]
    texts = [text for text in texts if any(text.startswith(lead) for lead in telling)]
    if set(words) == {"smooth"}:
        texts = ["the gain is smooth around " + ", ".join(centres)]
    return list(dict.fromkeys(words)), list(dict.fromkeys(texts))


_TEXTS: dict[Word, str] = {
    "step": "a step: the gain is gone on both sides of {label} along {axis}",
    "published island": "an island: the gain is gone on both sides of the published {label} along {axis}",
    "context collapse": "the only way to move {axis} away from {label} loses the gain",
    "size class": "a class: along {axis} the gain of {label} holds for others of its kind",
    "smooth": "smooth: around {label} along {axis}",
}
_WORDS: dict[str, Word] = {
    "isolated": "step",
    "one-sided": "context collapse",
    "class": "size class",
    "everywhere": "smooth",
}


def holds(centre: Probe, neighbour: Probe, threshold: float) -> bool | None:
    """Whether the gain of ``centre`` is there at ``neighbour``, too; None where the intervals leave it open.

    A loss is one only where the candidate's own time per unit of work rises: a reference that happens to be slow at the
    measured point makes a step that is not the candidate's.
    """
    if neighbour.verdict == "timeout" and centre.interval is not None:
        return False
    if centre.interval is None or neighbour.interval is None or not right(neighbour):
        return None
    half = half_of(centre.interval)
    if neighbour.interval.lower > half:
        return True
    if neighbour.interval.upper >= min(half, centre.interval.lower):
        return None
    if neighbour.interval.upper > threshold and neighbour.interval.upper * threshold > centre.interval.lower:
        return None
    return None if _is_the_references(centre, neighbour) else False


def half_of(gain: Interval) -> float:
    """What a neighbour must have of it to keep it."""
    return max(math.exp(_KEPT * math.log(gain.ratio)), 1.0)


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
