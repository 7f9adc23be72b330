"""E4: how near both kernels are to what the device can give."""

from __future__ import annotations

from collections.abc import Sequence

from kfp.auditing.evidence import item, not_possible
from kfp.auditing.lab import Lab
from kfp.auditing.points import Point
from kfp.auditing.results import EvidenceItem, Probe
from kfp.ceilings import ceilings
from kfp.gating.draws import demands_of
from kfp.gating.verdicts import SATURATED
from kfp.progress import Progress
from kfp.scoring import binding_bound


def saturation(lab: Lab, held_out: Sequence[tuple[Point, Probe]]) -> EvidenceItem:
    """``held_out`` are held-out configurations with their times."""
    limits = ceilings(lab.bench.device, lambda: lab.progress(Progress("ceilings")))
    shares = []
    for point, probe in held_out:
        bound = binding_bound(demands_of(lab.task, point.configuration), limits)
        if bound is not None and probe.seconds and probe.reference_seconds:
            shares.append((point.label, bound.seconds / probe.seconds, bound.seconds / probe.reference_seconds))
    if not shares:
        return not_possible("E4", "no ceiling is known for what the task needs, or nothing was timed")
    label, mine, theirs = max(shares, key=lambda share: min(share[1:]))
    text = f"{100 * mine:.0f} % of the measured ceiling, the reference {100 * theirs:.0f} %, at {label}"
    return item("E4", text, ["saturated"] if min(mine, theirs) >= SATURATED else [])
