"""What the program itself shows: its arms, where they ran, and what is lost without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kfp.auditing.arms import arms_item, identity_arms, leaked_arms
from kfp.auditing.coverage import coverage
from kfp.auditing.evidence import item, not_possible
from kfp.auditing.lab import Lab
from kfp.auditing.places import Places
from kfp.auditing.points import Point
from kfp.auditing.results import Coverage, EvidenceItem, Probe, StaticEvidence
from kfp.auditing.static import forced_fallbacks, static_evidence
from kfp.gating.variations import varied
from kfp.tables import significant
from kfp.tasks.base import Configuration

_FALLBACKS = 3
# Times as fast without the arm: less is a loss.
_LOSS = 1 / 1.05
_COVERAGE_SECONDS = 12.0
_RIGHT_COVERED = 8


def static(
    lab: Lab, places: Places, wrong_at: Sequence[Configuration], right_at: Sequence[Configuration]
) -> tuple[StaticEvidence, EvidenceItem]:
    """E2."""
    around = places.surroundings(wrong_at, right_at)
    where = places.configurations(around, wrong_at)
    found = static_evidence(lab.bench, lab.task, lab.source, lab.reference, where)
    if found.unknown and not found.arms:
        return found, not_possible("E2", found.unknown[0])
    return found, arms_item("E2", found.arms, found.extents, around, found.unknown)


def covered(
    lab: Lab,
    places: Places,
    program: StaticEvidence | None,
    wrong_at: Sequence[Configuration],
    right_at: Sequence[Configuration],
    *,
    seconds: float,
) -> tuple[Coverage, EvidenceItem]:
    """E2's dynamic twin, within so many ``seconds``. What its arms ask for is known from ``program``."""
    around = places.surroundings(wrong_at, right_at)
    where = places.configurations(around, wrong_at)
    task = lab.task
    if places.padded:
        task = varied(task, {point.configuration: point.variation for point in places.padded})
        where = [*where[:1], *(point.configuration for point in places.padded), *where[1:]]
        own = (point.label for point in places.measured)
        around = replace(around, padded=dict(zip(own, (point.label for point in places.padded), strict=True)))
    # Last, for whatever time is left: what a seed's arm does there clears it.
    known = {configuration.label for configuration in where}
    where += [configuration for configuration in right_at if configuration.label not in known][:_RIGHT_COVERED]
    found = coverage(lab.bench, task, lab.source, where, seconds=min(seconds, _COVERAGE_SECONDS))
    if found.reason:
        return found, not_possible("E2 coverage", found.reason)
    unclear = program is None or bool(program.unknown) or bool(leaked_arms(program.arms, around))
    return found, arms_item("E2 coverage", found.arms, (), around, (), may_leak=unclear)


def fallbacks(
    lab: Lab,
    places: Places,
    program: StaticEvidence | None,
    counted: Coverage | None,
    centres: Sequence[tuple[Point, Probe]],
) -> EvidenceItem:
    """E3b: the candidate without one of its arms against the candidate, at the measured points that had a gain."""
    around = places.surroundings(())
    known = program.arms if program is not None else ()
    arms = [*identity_arms(known, around), *leaked_arms(known, around)]
    # Those that nobody could evaluate are known by having been counted alone.
    arms += identity_arms(counted.arms, around) if counted is not None else []
    points = [point for point, _ in centres]
    texts: list[str] = []
    for arm in list(dict.fromkeys(arms))[:_FALLBACKS]:
        if lab.late:
            break
        for edited in forced_fallbacks(lab.source, arm, bench=lab.bench)[:1]:
            probes = lab.in_pairs(f"fallback {arm.id}", points, source=edited, reference=lab.source)
            lost = [probe for probe in probes if probe.interval is not None and probe.interval.upper < _LOSS]
            line = f"line {arm.location.line}" if arm.location else arm.kernel
            if lost and lost[0].interval is not None:
                text = f"without the arm at {line} it is {significant(lost[0].interval.ratio)} times as fast"
                return item("E3b", f"{text} at {lost[0].label}", ["fallback loss"], probes)
            if probes and all(probe.interval and probe.interval.lower > _LOSS for probe in probes):
                texts.append(f"nothing is lost without the arm at {line}")
    if texts:
        return item("E3b", texts[0], ["no fallback loss"])
    return not_possible("E3b", "no arm is known that could be closed" if not arms else "no closed arm gave a result")
