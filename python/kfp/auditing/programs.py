"""What the program itself shows: its arms, where they ran, and what is lost without them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from kfp.auditing.arms import arms_item, identity_arms, leaked_arms
from kfp.auditing.evidence import item, not_possible
from kfp.auditing.lab import Lab, right, together, wrong
from kfp.auditing.places import Places
from kfp.auditing.points import Point
from kfp.auditing.results import Arm, Coverage, EvidenceItem, Probe, StaticEvidence
from kfp.gating.verdicts import place
from kfp.tables import significant
from kfp.tasks.base import Configuration

_FALLBACKS = 3


def static(lab: Lab, places: Places, wrong_at: Sequence[Configuration]) -> tuple[StaticEvidence | None, EvidenceItem]:
    if find_spec("kfp.auditing.static") is None:
        return None, not_possible("E2", "the program is not looked at yet")
    static_evidence = import_module("kfp.auditing.static").static_evidence

    around = places.surroundings(wrong_at)
    found = static_evidence(lab.bench, lab.task, lab.source, lab.reference, places.configurations(around, wrong_at))
    return found, arms_item("E2", found.arms, found.extents, around, found.unknown)


def covered(lab: Lab, places: Places, wrong_at: Sequence[Configuration]) -> tuple[Coverage | None, EvidenceItem]:
    if find_spec("kfp.auditing.coverage") is None:
        return None, not_possible("E2 coverage", "arms are not counted yet")
    coverage = import_module("kfp.auditing.coverage").coverage

    around = places.surroundings(wrong_at)
    found = coverage(lab.bench, lab.task, lab.source, places.configurations(around, wrong_at))
    if found.reason:
        return found, not_possible("E2 coverage", found.reason)
    return found, arms_item("E2 coverage", found.arms, (), around, ())


def fallbacks(
    lab: Lab,
    places: Places,
    program: StaticEvidence | None,
    counted: Coverage | None,
    centres: Sequence[tuple[Point, Probe]],
) -> EvidenceItem:
    """E3b: the candidate without one of its arms against the candidate, at the measured points that had a gain."""
    if program is None:
        return not_possible("E3b", "no arm is known that could be closed")
    forced_fallbacks = import_module("kfp.auditing.static").forced_fallbacks

    around = places.surroundings(())
    arms: list[Arm] = [*identity_arms(program.arms, around), *leaked_arms(program.arms, around)]
    points = [point for point, _ in centres]
    for arm in list(dict.fromkeys(arms))[:_FALLBACKS]:
        for edited in forced_fallbacks(lab.source, arm)[:1]:
            probes = lab.in_pairs(f"fallback {arm.id}", points, source=edited, reference=lab.source)
            if any(wrong(probe) for probe in probes):
                continue
            whole = together(probes)
            if whole is not None and whole.upper < 1 / 1.05:
                line = f"line {arm.location.line}" if arm.location else arm.kernel
                text = f"without the arm at {line} it is {significant(whole.ratio)} times as fast where measured"
                return item("E3b", text, ["fallback loss"], probes)
            if all(right(probe) for probe in probes) and whole is not None and place(whole, 1 / 1.05) == "above":
                return item("E3b", "nothing is lost without the arm", ["no fallback loss"], probes)
    return not_possible("E3b", "no arm could be closed with a result")
