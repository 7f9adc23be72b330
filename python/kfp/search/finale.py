"""The end of a run: the best candidates measured again, and one look at what was held out.

This is the place where a fuller gate belongs: ``conclude`` is called once, after the last iteration, and nothing that
it finds goes back into the search.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from kfp.runs.folder import RunWriter
from kfp.runs.records import CandidateRecord, Finale, Finalist, IterationRecord
from kfp.search.judgement import Referee
from kfp.tasks.base import Configuration, Task

MOST_FINALISTS = 3


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
        claim = referee.compare(source, start, points, "claim")
        tell(f"measuring the {entry.name} at what was held out")
        at_held_out = referee.compare(source, start, _once(held_out), "claim")
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


def _once(configuration: Configuration) -> tuple[Configuration, ...]:
    return (configuration,)


def finalists(folder: RunWriter) -> list[_Entry]:
    """The incumbent; the kernel that a search by score alone would have returned; the incumbent before the last."""
    promoted: list[_Entry] = []
    best_score = 0.0
    top: _Entry | None = None
    gain = 1.0
    for record in folder.iterations():
        for candidate in record.candidates:
            score = candidate.evaluation.score if candidate.evaluation is not None else None
            if score is not None and score > best_score and candidate.decision not in ("wrong", "invalid"):
                best_score, top = (
                    score,
                    _Entry("best by score", record.number, candidate, _against_start(gain, candidate)),
                )
        chosen = _promoted(record)
        if chosen is not None:
            ratio = chosen.gain.ratio if chosen.gain else None
            gain *= ratio if ratio is not None else 1.0
            promoted = [*promoted[-1:], _Entry("incumbent", record.number, chosen, gain)]
    entries = promoted[-1:]
    if top is not None and all(top.candidate.source_sha256 != e.candidate.source_sha256 for e in entries):
        entries.append(top)
    if len(promoted) > 1 and all(promoted[0].candidate.source_sha256 != e.candidate.source_sha256 for e in entries):
        entries.append(replace(promoted[0], name="incumbent before"))
    return entries[:MOST_FINALISTS]


def _promoted(record: IterationRecord) -> CandidateRecord | None:
    return next((c for c in record.candidates if c.number == record.promoted), None)


def _against_start(gain: float, candidate: CandidateRecord) -> float | None:
    ratio = candidate.gain.ratio if candidate.gain else None
    return gain * ratio if ratio is not None else None
