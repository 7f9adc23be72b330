"""The end of a run: the best candidates measured again, and one look at what was held out.

This is the place where a fuller gate belongs: ``conclude`` is called once, after the last iteration, and nothing that
it finds goes back into the search.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from kfp.runs.folder import RunWriter
from kfp.runs.records import CandidateRecord, Finale, Finalist
from kfp.search.judgement import Judgement, Referee
from kfp.tasks.base import Configuration, Task

MOST_FINALISTS = 3
MOST_CLAIMS = 3


@dataclass(frozen=True)
class _Entry:
    name: str
    iteration: int
    candidate: CandidateRecord
    # By the search's own comparisons, against the starting kernel.
    search: float | None


def conclude(
    folder: RunWriter, task: Task, referee: Referee, iterations: int, tell: Callable[[str], None]
) -> Finale | None:
    """Measures the finalists at claim grade and at the published held-out configuration, both beside the start.

    None where the search found nothing that is right and not the starting kernel. What is on record is not measured
    again, unless iterations have been added since.
    """
    known = folder.finale()
    if known is not None and known.iterations == iterations:
        return known
    entries = finalists(folder)
    if not entries:
        return None
    started = time.monotonic()
    spec, start = folder.spec, folder.start
    points = tuple(replace(point, seed=spec.seed) for point in task.configurations(spec.scale))
    held_out = replace(task.published_held_out(spec.scale), seed=spec.seed)
    measured = []
    for entry in entries:
        source = folder.candidate(entry.iteration, entry.candidate.number) or ""
        tell(f"measuring the {entry.name} again, in fresh processes")
        claim = _claimed(referee, source, start, points)
        tell(f"measuring the {entry.name} at what was held out")
        at_held_out = _claimed(referee, source, start, (held_out,))
        measured.append(
            Finalist(
                name=entry.name,
                iteration=entry.iteration,
                source_sha256=entry.candidate.source_sha256,
                model=entry.candidate.model,
                search=entry.search,
                claim=claim,
                held_out=at_held_out,
            )
        )
    finale = Finale(
        iterations=iterations,
        look=known.look + 1 if known else 1,
        held_out_label=held_out.label,
        finalists=tuple(measured),
        seconds=time.monotonic() - started,
    )
    folder.write_finale(finale)
    return finale


def _claimed(referee: Referee, source: str, start: str, points: tuple[Configuration, ...]) -> Judgement:
    """At claim grade; once more where the machine was too unsteady for any interval."""
    for _ in range(MOST_CLAIMS):
        judgement = referee.compare(source, start, points, "claim")
        if judgement.ratio is not None or judgement.verdict == "wrong":
            break
    return judgement


def finalists(folder: RunWriter) -> list[_Entry]:
    """The incumbent, the kernel that a search by score alone would have returned, and the best of the rest.

    The rest are right kernels that were not promoted, kept out by a hidden draw or by too little of a gain.
    """
    incumbent: _Entry | None = None
    top: _Entry | None = None
    rest: list[_Entry] = []
    best_score = gain = 0.0
    for record in folder.iterations():
        before = gain or 1.0
        for candidate in record.candidates:
            entry = _Entry("runner-up", record.number, candidate, _against_start(before, candidate))
            score = candidate.evaluation.score if candidate.evaluation is not None else None
            if score is None or candidate.decision in ("wrong", "invalid"):
                continue
            if score > best_score:
                best_score, top = score, replace(entry, name="best by score")
            if candidate.number == record.promoted:
                incumbent, gain = replace(entry, name="incumbent"), entry.search or before
            if entry.search is not None:
                rest = sorted([*rest, entry], key=_gain, reverse=True)[:MOST_FINALISTS]
    entries: list[_Entry] = []
    for entry in [found for found in (incumbent, top, *rest) if found is not None]:
        known = {other.candidate.source_sha256 for other in entries}
        if entry.candidate.source_sha256 not in known and (
            entry.name != "runner-up" or "runner-up" not in _names(entries)
        ):
            entries.append(entry)
    return entries


def _names(entries: list[_Entry]) -> set[str]:
    return {entry.name for entry in entries}


def _gain(entry: _Entry) -> float:
    return entry.search or 0.0


def _against_start(gain: float, candidate: CandidateRecord) -> float | None:
    ratio = candidate.gain.ratio if candidate.gain else None
    return gain * ratio if ratio is not None else None
