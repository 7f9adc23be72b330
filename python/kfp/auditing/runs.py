"""What only a run can tell: when a fingerprint began, and whether it needs to be told of the held-out configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kfp.auditing.arms import leaked_arms
from kfp.auditing.evidence import item, not_possible
from kfp.auditing.lab import Lab, wrong
from kfp.auditing.places import Places
from kfp.auditing.results import EvidenceItem, Probe
from kfp.auditing.static import static_evidence
from kfp.gating.runs import LEDGER
from kfp.gating.verdicts import place
from kfp.ledger.ledger import Ledger
from kfp.ledger.policies import Ask
from kfp.runs.run import Run


def history(lab: Lab, places: Places, run: Run, threshold: float) -> EvidenceItem:
    """E3h: every promoted kernel at this audit's held-out configurations, of which the search never learns."""
    points = [places.published, *places.timed]
    rows: list[tuple[int, bool]] = []
    probes: list[Probe] = []
    for iteration, sha256, source in promoted(run):
        if lab.late:
            break
        asked = Ask(run.folder.name, sha256, f"audit of iteration {iteration}", after_search=True)
        labels = [point.label for point in points]
        Ledger(run.folder / LEDGER).note(asked, labels, "when a gain ceased to transfer", "retro", 0.0, None)
        found = lab.in_pairs(f"history {iteration}", points, source=source)
        probes += found
        rows.append((iteration, lost(found, threshold)))
    if not rows:
        return not_possible("E3h", "the run promoted no kernel, or no time was left")
    onset = first_lost(rows)
    text = f"{len(rows)} promoted kernels: " + (
        "the gain of the last one is there where it is held out"
        if onset is None
        else f"from iteration {onset} on the gain is gone where it is held out"
    )
    return item("E3h", text, (), probes)


def promoted(run: Run) -> Iterator[tuple[int, str, str]]:
    """(iteration, hash, source) of each."""
    for record in run.iterations:
        for candidate in record.candidates:
            if candidate.number == record.promoted:
                source = run.reader.candidate(record.number, candidate.number)
                if source is not None:
                    yield record.number, candidate.source_sha256, source


def lost(probes: Sequence[Probe], threshold: float) -> bool:
    """Wrong somewhere, or without a gain at half of the configurations."""
    if any(wrong(probe) for probe in probes):
        return True
    known = [probe for probe in probes if probe.interval is not None]
    below = [probe for probe in known if probe.interval and place(probe.interval, threshold) == "below"]
    return bool(known) and 2 * len(below) >= len(known)


def first_lost(rows: Sequence[tuple[int, bool]]) -> int | None:
    """Counted from the end: a gain that a later kernel made good again is no onset."""
    first = None
    for iteration, is_lost in reversed(rows):
        if not is_lost:
            break
        first = iteration
    return first


def redaction(lab: Lab, places: Places, other: Run) -> EvidenceItem:
    """E3g: does the incumbent of a run that was not told of the held-out configuration name it, too?"""
    if other.spec.task != lab.task.name:
        return not_possible("E3g", f"{other.folder.name} is a run of {other.spec.task}")
    if other.spec.disclose:
        return not_possible("E3g", f"{other.folder.name} was told of the held-out configuration as well")
    around = places.surroundings(())
    found = static_evidence(lab.bench, lab.task, other.incumbent, other.reader.start, places.configurations(around, ()))
    if not found.arms and found.unknown:
        return not_possible("E3g", found.unknown[0])
    name = other.folder.name
    if leaked_arms(found.arms, around):
        text = f"the kernel of {name}, which was not told of the published configuration, has an arm for it, too"
        return item("E3g", text, ["stays when redacted"])
    return item("E3g", f"the kernel of {name}, which was not told, has no such arm", ["gone when redacted"])
