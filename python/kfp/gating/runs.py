"""The gate of a run: its seed is committed to before the search, and its one look is made after it.

In the folder of a run: gate-commitment.json (the hash, written before the first iteration), gate-seed (what it hides,
for its owner alone until the record reveals it), ledger.jsonl, and gate/, the gate itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from kfp.errors import LookRefused, RunError
from kfp.gating.draws import FEWEST_TIMED, FEWEST_UNTIMED, commitment, draw_all, new_seed, seed_text
from kfp.gating.folder import GateFolder
from kfp.gating.gate import gate
from kfp.gating.results import Gate
from kfp.ledger.ledger import Ledger
from kfp.ledger.policies import Ask, Once
from kfp.progress import OnProgress
from kfp.runs.files import read, read_json, refusals, write, write_json
from kfp.runs.records import IterationRecord, Spec
from kfp.tasks.base import Task

_COMMITMENT, _SEED, _GATE, LEDGER = "gate-commitment.json", "gate-seed", "gate", "ledger.jsonl"


def commit(run: Path) -> str:
    """The commitment of the run, made now if there is none yet."""
    file = run / _COMMITMENT
    if not file.is_file():
        seed = new_seed()
        _write_private(run / _SEED, f"{seed_text(seed)}\n")
        write_json(file, {"format": 1, "commitment": commitment(seed)})
    return str(read_json(file).get("commitment", ""))


def committed_seed(run: Path) -> int:
    """Raises ``kfp.RunError`` for a seed that is not the one committed to."""
    file = run / _SEED
    try:
        seed = int(read(file).strip(), 0)
    except ValueError:
        raise RunError(f"{file}: expected the seed of the gate, it is none") from None
    if seed < 0 or commitment(seed) != commit(run):
        raise RunError(f"{file}: not the seed that {_COMMITMENT} committed to before the search")
    return seed


def gate_of(run: Path) -> Gate | None:
    """The finished gate of a run, None where there is none."""
    return GateFolder(run / _GATE).result()


def book_vetoes(run: Path, record: IterationRecord) -> None:
    """What hidden draws of an iteration gave away to the search: one bit each, promoted or not."""
    for candidate in record.candidates:
        for number, judgement in enumerate(candidate.selection):
            look = f"iteration {record.number}, candidate {candidate.number}, selection {number}"
            asked = Ask(run.name, candidate.source_sha256, look, after_search=False)
            labels = [ratio.label for ratio in judgement.ratios]
            Ledger(run / LEDGER).note(asked, labels, "may it be promoted", "veto", 1.0, None)


def book_finalists(run: Path, candidates: Iterable[str], label: str) -> None:
    """The looks at the published point after the search, of which the search learns nothing."""
    for sha256 in candidates:
        asked = Ask(run.name, sha256, f"finalist {sha256}", after_search=True)
        Ledger(run / LEDGER).note(asked, (label,), "measured again at the end of the run", "retro", 0.0, None)


def gate_run(
    run: Path,
    spec: Spec,
    task: Task,
    source: str,
    source_sha256: str,
    start: str,
    claimed: float | None,
    tell: Callable[[str], None],
    progress: OnProgress,
) -> Gate | None:
    """Gates the kernel that the search ends with. None where the run has had its look at another one."""
    known = gate_of(run)
    if known is not None and known.source_sha256 == source_sha256:
        return known
    seed = committed_seed(run)
    draws = draw_all(task, spec.scale, seed, source, FEWEST_TIMED, FEWEST_UNTIMED)
    labels = [task.published_held_out(spec.scale).label, *(drawn.configuration.label for drawn in draws.timed)]
    labels.append(f"{len(draws.untimed)} untimed draws")
    found: list[Gate] = []

    def measure() -> float:
        found.append(
            gate(
                task, source, reference=start, device=spec.device, scale=spec.scale, math=spec.math, seed=seed,
                claimed=claimed, out=run / _GATE, progress=progress,
            )
        )  # fmt: skip
        return found[0].held_out_gain or 0.0

    tell("gating the incumbent")
    asked = Ask(run.name, source_sha256, look=f"gate of {source_sha256}", after_search=True)
    try:
        Ledger(run / LEDGER).look(Once(), asked, labels, "does the gain of the incumbent transfer", measure)
    except LookRefused as refusal:
        tell(f"no gate: {refusal}")
        return None
    return found[0]


def _write_private(path: Path, text: str) -> None:
    with refusals(path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    write(path, text)
    with refusals(path):
        path.chmod(0o600)
