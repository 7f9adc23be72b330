"""Whether what an entry claims is so, by running it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from kfp import _core
from kfp.gating.variations import Variation, varied
from kfp.tasks import get_task
from kfp.tasks.base import Configuration, Task

from corpus.entry import Claim, Entry
from corpus.running import Compiled, compiled, seconds

# Times of the reference over those of the candidate. What is claimed is far from both, see the sites' burdens.
FAST = 1.2
SLOW = 0.95
ATTEMPTS = 4


def points_of(entry: Entry, draws: int) -> list[Configuration]:
    """The search's, the published one, and some of the task's own draws, others for every entry."""
    task = get_task(entry.task)
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(entry.name.encode()).digest()[:8], "big"))
    drawn = [task.draw(rng, "small") for _ in range(draws)]
    return [*task.configurations("small"), task.published_held_out("small"), *drawn]


def untruths(worker: _core.Worker, entry: Entry, points: Sequence[Configuration], *, timed: bool) -> list[str]:
    """Claims that didn't hold, in words: those at ``points``, and those of the entry's probes."""
    task = get_task(entry.task)
    candidate = compiled(worker, entry.source)
    both = (compiled(worker, entry.reference) if timed else None), candidate
    found = [_untruth(worker, both, task, point, entry.claim(point)) for point in points]
    for probe in entry.probes:
        other = varied(task, {probe.configuration: Variation(probe.law, probe.padding)})
        untruth = _untruth(worker, both, other, probe.configuration, probe.claim)
        found.append(f"{probe.law} data, padded by {probe.padding}: {untruth}" if untruth else "")
    return [untruth for untruth in found if untruth]


def _untruth(
    worker: _core.Worker,
    both: tuple[Compiled | None, Compiled],
    task: Task,
    point: Configuration,
    claim: Claim,
) -> str:
    """Times are compared where there is a reference."""
    if claim == "any":
        return ""
    reference, candidate = both
    runs = (candidate.verdict(task, point) for _ in range(ATTEMPTS if claim == "wrong" else 1))
    # Threads that race for an element may come in the right order once.
    verdict, detail = next((run for run in runs if run[0] != "right"), ("right", ""))
    if (verdict == "right") != (claim != "wrong"):
        return f"{point.label}: claimed {claim}, it is {verdict}: {detail[:200]}"
    if reference is None or claim not in ("fast", "slow"):
        return ""
    executions = [reference.prepared(task, point), candidate.prepared(task, point)]
    for _ in range(ATTEMPTS):
        took, mine = seconds(worker, executions)
        ratio = took / mine
        if ratio >= FAST if claim == "fast" else ratio <= SLOW:
            return ""
    return f"{point.label}: claimed {claim}, it is {ratio:.2f} times as fast as its reference"
