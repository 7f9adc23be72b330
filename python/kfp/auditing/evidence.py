"""From what was run to items of evidence: pure functions of probes."""

from __future__ import annotations

from collections.abc import Sequence

from kfp.auditing.lab import right, together, wrong
from kfp.auditing.results import EvidenceItem, EvidenceKind, Probe, Word
from kfp.gating.draws import FEWEST_TIMED
from kfp.gating.verdicts import place
from kfp.tables import significant
from kfp.timing.statistics import Interval


def item(
    kind: EvidenceKind, finding: str, supports: Sequence[Word], probes: Sequence[Probe] = (), seconds: float = 0.0
) -> EvidenceItem:
    return EvidenceItem(kind, "run", finding, tuple(dict.fromkeys(supports)), tuple(probes), seconds)


def not_run(kind: EvidenceKind, reason: str) -> EvidenceItem:
    return EvidenceItem(kind, "not run", reason, (), (), 0.0)


def not_possible(kind: EvidenceKind, reason: str) -> EvidenceItem:
    return EvidenceItem(kind, "not possible here", reason, (), (), 0.0)


def noise_floor(probes: Sequence[Probe], threshold: float) -> EvidenceItem:
    """E0, of comparisons of the reference with itself: a machine on which it gains or loses can't tell anything."""
    whole = together(probes)
    if whole is None:
        failed = next((probe for probe in probes if probe.interval is None), None)
        return not_possible("E0", failed.detail if failed is not None else "nothing could be measured")
    if place(whole, threshold) == "above" or whole.upper < 1 / threshold:
        return item("E0", f"the reference is {_times(whole)} as fast as itself: no time means anything", (), probes)
    return item("E0", f"the reference is {_times(whole)} as fast as itself", ("floor",), probes)


def held_out(
    in_distribution: Sequence[Probe],
    published: Sequence[Probe],
    draws: Sequence[Probe],
    untimed: Sequence[Probe],
    threshold: float,
    *,
    complete: bool = True,
    stopped: Sequence[Probe] = (),
) -> EvidenceItem:
    """E1: the gain in distribution, and what is left of it where nobody could look. Not ``complete``: not timed yet.
    ``stopped``: runs that took too long, the reference's as well, so that nothing is known of them.
    """
    probes = (*in_distribution, *published, *draws, *untimed)
    words, parts = _gain(in_distribution, threshold)
    if not complete and "wrong in distribution" not in words:
        words, parts = [], ["right in distribution"]
    if "wrong in distribution" not in words:
        for found, texts in (_at_published(published, threshold), _off_menu(draws, untimed, threshold)):
            words, parts = [*words, *(word for word in found if complete or word.startswith("wrong"))], [*parts, *texts]
    if stopped:
        words = ["off menu open" if word == "kept off menu" else word for word in words]
        parts.append(f"stopped at {stopped[0].label}, where the reference takes long as well")
    return item("E1", "; ".join(part for part in parts if part), words, probes)


def _gain(probes: Sequence[Probe], threshold: float) -> tuple[list[Word], list[str]]:
    failed = next((probe for probe in probes if wrong(probe)), None)
    if failed is not None:
        return ["wrong in distribution"], [f"{failed.verdict} at {failed.label}, in distribution: {failed.detail}"]
    whole = together(probes)
    if whole is None or not probes:
        why = next((probe.detail for probe in probes if probe.interval is None), "nothing was measured")
        return ["gain open"], [f"no gain could be measured in distribution: {why}"]
    word: Word = {"above": "gain", "below": "no gain"}.get(place(whole, threshold), "gain open")  # type: ignore[assignment]
    return [word], [f"{_times(whole)} as fast in distribution"]


def _at_published(probes: Sequence[Probe], threshold: float) -> tuple[list[Word], list[str]]:
    if not probes:
        return [], []
    failed = next((probe for probe in probes if wrong(probe)), None)
    if failed is not None:
        return ["wrong at published"], [f"{failed.verdict} at the published point {failed.label}: {failed.detail}"]
    whole = together(probes)
    if whole is None:
        why = f": {probes[0].detail}" if probes[0].detail else ""
        return ["published open"], [f"right at the published point, not timed{why}"]
    word: Word = {"above": "kept at published", "below": "lost at published"}.get(
        place(whole, threshold), "published open"
    )  # type: ignore[assignment]
    return [word], [f"{_times(whole)} at the published point"]


def _off_menu(draws: Sequence[Probe], untimed: Sequence[Probe], threshold: float) -> tuple[list[Word], list[str]]:
    words: list[Word] = []
    parts: list[str] = []
    # Of a timed draw that takes too long it is only known that it is slow.
    slow = [probe for probe in draws if probe.verdict == "timeout"]
    bad = [probe for probe in (*draws, *untimed) if wrong(probe) and probe not in slow]
    if bad:
        words.append("wrong off menu")
        first = bad[0]
        parts.append(f"not right on {len(bad)} of {len(draws) + len(untimed)} draws: {first.label}: {first.detail}")
    timed = [probe for probe in draws if not wrong(probe) or probe in slow]
    if not timed:
        return words, parts
    places = [_place(probe, threshold) for probe in timed]
    # Of draws for which there was no time nothing is known.
    draws_wanted = max(len(places), FEWEST_TIMED)
    if places.count("above") == draws_wanted and not bad:
        words.append("kept off menu")
    elif 2 * places.count("below") >= draws_wanted:
        words.append("lost off menu")
    elif not bad:
        words.append("off menu open")
    ratios = ", ".join(significant(probe.interval.ratio) for probe in timed if probe.interval is not None)
    if ratios:
        parts.append(f"{ratios} times on the timed draws")
    return words, parts


def _place(probe: Probe, threshold: float) -> str:
    if probe.verdict == "timeout":
        return "below"
    return "open" if probe.interval is None else place(probe.interval, threshold)


def other_data(same: Sequence[Probe], laws: Sequence[Probe], timed: Sequence[Probe], threshold: float) -> EvidenceItem:
    """E3d, at measured configurations: ``same`` are other data of the task's own law, ``laws`` other laws, both run for
    correctness; ``timed`` other laws in pairs.
    """
    probes = (*same, *laws, *timed)
    bad = next((probe for probe in same if wrong(probe)), None)
    if bad is not None:
        return item(
            "E3d", f"{bad.verdict} on other data, at {bad.label}: {bad.detail}", ["wrong on other data"], probes
        )
    bad = next((probe for probe in (*laws, *timed) if wrong(probe)), None)
    if bad is not None:
        text = f"{bad.verdict} under another law of the data, at {bad.label}: {bad.detail}"
        return item("E3d", text, ["wrong under another law"], probes)
    return _collapse("E3d", "under other laws of the data", "data collapse", "data holds", probes, timed, threshold)


def context(timed: Sequence[Probe], threshold: float) -> EvidenceItem:
    """E3e: measured sizes in another context."""
    return _collapse("E3e", "in another context", "context collapse", "context holds", timed, timed, threshold)


def geometry(padded: Sequence[Probe], timed: Sequence[Probe], threshold: float) -> EvidenceItem:
    """E3f, at measured configurations: grids of more threadgroups than the work needs."""
    probes = (*padded, *timed)
    bad = next((probe for probe in probes if wrong(probe)), None)
    if bad is not None:
        text = f"{bad.verdict} in a larger grid, at {bad.label}: {bad.detail}"
        return item("E3f", text, ["wrong in other geometry"], probes)
    return _collapse("E3f", "in larger grids", "geometry collapse", "geometry holds", probes, timed, threshold)


def _collapse(
    kind: EvidenceKind,
    where: str,
    collapse: Word,
    holds: Word,
    probes: Sequence[Probe],
    timed: Sequence[Probe],
    threshold: float,
) -> EvidenceItem:
    known = [probe for probe in timed if probe.interval is not None]
    lost = [probe for probe in known if probe.interval and place(probe.interval, threshold) == "below"]
    if lost:
        assert lost[0].interval is not None
        text = f"the gain is gone {where}: {_times(lost[0].interval)} as fast at {lost[0].label}"
        return item(kind, text, [collapse], probes)
    if known and all(probe.interval and place(probe.interval, threshold) == "above" for probe in known):
        return item(kind, f"the gain holds {where}", [holds], probes)
    said = "right" if all(right(probe) for probe in probes) else "nothing decisive"
    if known:
        return item(kind, f"{said} {where}; the gain there is open", ["cause open"], probes)
    return item(kind, f"{said} {where}", [], probes)


def _times(interval: Interval) -> str:
    return f"{significant(interval.ratio)} ({significant(interval.lower)} to {significant(interval.upper)}) times"
