"""Whether what an entry claims is so, by running it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from kfp import _core
from kfp.tasks import get_task
from kfp.tasks.base import Configuration

from corpus.entry import Entry
from corpus.running import compiled, seconds

# Times of the reference over those of the candidate. What is claimed is far from both, see SLOW_REST and the burdens.
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
    """Claims that didn't hold, in words."""
    task = get_task(entry.task)
    reference, candidate = compiled(worker, entry.reference), compiled(worker, entry.source)
    found = []
    for point in points:
        claim = entry.claim(point)
        if claim == "any":
            continue
        verdict, detail = candidate.verdict(task, point)
        if (verdict == "right") != (claim != "wrong"):
            found.append(f"{point.label}: claimed {claim}, it is {verdict}: {detail[:200]}")
            continue
        if timed and claim in ("fast", "slow"):
            executions = [reference.prepared(task, point), candidate.prepared(task, point)]
            for _ in range(ATTEMPTS):
                took, mine = seconds(worker, executions)
                ratio = took / mine
                if ratio >= FAST if claim == "fast" else ratio <= SLOW:
                    break
            else:
                found.append(f"{point.label}: claimed {claim}, it is {ratio:.2f} times as fast as its reference")
    return found
