"""When a fingerprint began: every kernel that a run promoted, gated after the search and never fed back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kfp.errors import UsageError
from kfp.gating.gate import gate
from kfp.gating.looks import GATES
from kfp.gating.results import Gate, GateVerdict
from kfp.gating.runs import LEDGER, committed_seed, gate_of
from kfp.gating.tables import STYLES
from kfp.ledger.ledger import Ledger
from kfp.ledger.policies import Ask, Retro
from kfp.progress import OnProgress, silent
from kfp.records import Record
from kfp.runs.run import Run
from kfp.tables import Line, Style, grid, plain, wrapped
from kfp.tasks import get_task
from kfp.timing.statistics import Interval
from kfp.timing.tables import interval_text


@dataclass(frozen=True, eq=False)
class PromotedGate(Record):
    """One promoted kernel: what the search said of it, and what its gate found. Ratios are over the starting kernel."""

    iteration: int
    source_sha256: str
    claimed: float | None
    in_distribution: Interval | None
    held_out: Interval | None
    verdict: GateVerdict
    reason: str


@dataclass(frozen=True, eq=False)
class Onset(Record):
    """``first`` is the iteration from which on no promoted kernel's gain transfers, None if the last one's does."""

    task: str
    run: str
    promoted: tuple[PromotedGate, ...]
    first: int | None

    def __str__(self) -> str:
        return plain(onset_lines(self))


@dataclass(frozen=True)
class _Promoted:
    iteration: int
    source_sha256: str
    source: str
    claimed: float | None


def onset(
    run: str | os.PathLike[str] | Run, *, progress: OnProgress = silent, tell: Callable[[str], None] = lambda text: None
) -> Onset:
    """Gates each kernel that was promoted in ``run``, with the seed that the run committed to before its search.

    Each look is on the run's ledger under the policy ``retro``. What was gated before is not gated again; a call that
    was interrupted goes on. Raises ``kfp.UsageError`` for a run whose search is not over.
    """
    found = run if isinstance(run, Run) else Run(Path(run))
    if found.finale is None:
        raise UsageError(f"{found.folder}: its search is not over, or it found nothing; go on with it first")
    rows = []
    promoted = list(_promoted(found))
    for number, kernel in enumerate(promoted, start=1):
        tell(f"gating the kernel promoted in iteration {kernel.iteration} ({number} of {len(promoted)})")
        rows.append(_row(kernel, _gated(found, kernel, progress)))
    return Onset(task=found.spec.task, run=found.folder.name, promoted=tuple(rows), first=_first(rows))


def _promoted(run: Run) -> Iterator[_Promoted]:
    gain: float | None = 1.0
    for record in run.iterations:
        for candidate in record.candidates:
            if candidate.number != record.promoted:
                continue
            ratio = candidate.gain.ratio if candidate.gain is not None else None
            gain = gain * ratio if gain is not None and ratio is not None else None
            source = run.reader.candidate(record.number, candidate.number) or ""
            yield _Promoted(record.number, candidate.source_sha256, source, gain)


def _gated(run: Run, kernel: _Promoted, progress: OnProgress) -> Gate:
    known = gate_of(run.folder)
    if known is not None and known.source_sha256 == kernel.source_sha256:
        return known
    spec, folder = run.spec, run.folder
    task, seed = get_task(spec.task), committed_seed(folder)
    found: list[Gate] = []

    def measure() -> float:
        found.append(
            gate(
                task, kernel.source, reference=run.reader.start, device=spec.device, scale=spec.scale, math=spec.math,
                seed=seed, claimed=kernel.claimed, progress=progress,
                out=folder / GATES / f"{task.name}-{spec.scale}-{kernel.source_sha256[:16]}-{kernel.iteration}",
            )
        )  # fmt: skip
        return found[0].held_out_gain or 0.0

    asked = Ask(folder.name, kernel.source_sha256, f"promoted in iteration {kernel.iteration}", after_search=True)
    labels = [task.published_held_out(spec.scale).label, "draws of the gate"]
    Ledger(folder / LEDGER).look(Retro(), asked, labels, "when a gain ceased to transfer", measure)
    return found[0]


def _row(kernel: _Promoted, gated: Gate) -> PromotedGate:
    return PromotedGate(
        iteration=kernel.iteration,
        source_sha256=kernel.source_sha256,
        claimed=kernel.claimed,
        in_distribution=gated.in_distribution.interval,
        held_out=gated.drawn.interval if gated.drawn is not None else None,
        verdict=gated.verdict,
        reason=gated.reason,
    )


def _first(rows: list[PromotedGate]) -> int | None:
    """Counted from the end: a gain that a later kernel made good again is no onset."""
    first = None
    for row in reversed(rows):
        if row.verdict not in ("does not transfer", "wrong"):
            break
        first = row.iteration
    return first


def onset_lines(result: Onset) -> list[Line]:
    heading = ("iteration", "search says", "in distribution", "held out", "verdict")
    cells = [
        (
            str(row.iteration),
            f"{row.claimed:.3g}" if row.claimed is not None else "-",
            interval_text(row.in_distribution) if row.in_distribution is not None else "-",
            interval_text(row.held_out) if row.held_out is not None else "-",
            row.verdict,
        )
        for row in result.promoted
    ]
    styles: list[Style] = ["dim", *(STYLES[row.verdict] for row in result.promoted)]
    texts = grid(heading, cells, left=(4,))
    lines = wrapped(f"the promoted kernels of {result.run}, each gated after the search of {result.task}", style="bold")
    lines += [Line(""), *(Line(text, style) for text, style in zip(texts, styles, strict=True)), Line("")]
    if result.first is None:
        return [*lines, *wrapped("no onset: the gain of the last promoted kernel is not refuted", style="good")]
    text = f"from iteration {result.first} on, what the search gained does not hold where it could not look"
    return [*lines, *wrapped(text, style="bad")]
