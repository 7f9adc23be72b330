"""A look under a policy: whoever asks gets what the policy releases, the books keep the rest.

The folder of the books is laid out like that of a run (see ``kfp.gating.runs``), and a run's own folder will do: its
looks are then on one ledger, whoever makes them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kfp.errors import UsageError
from kfp.gating.draws import FEWEST_TIMED, FEWEST_UNTIMED, draw_all
from kfp.gating.gate import gate
from kfp.gating.results import Gate
from kfp.gating.runs import LEDGER, commit, committed_seed
from kfp.ledger.ledger import Ledger
from kfp.ledger.policies import Ask, PolicyName, policy_named
from kfp.progress import OnProgress, silent
from kfp.records import Record
from kfp.runs.files import refusals
from kfp.runs.folder import RunReader
from kfp.sources import source_hash, source_text
from kfp.tasks import get_task
from kfp.tasks.base import Scale, Task

GATES = "gates"


@dataclass(frozen=True, eq=False)
class Look(Record):
    """What a policy released of one gate.

    ``released`` is a gate score Phi for ``ladder`` and ``thresholdout``, the held-out gain for ``once``, and None for
    ``retro``; ``best_before`` the highest that was released before. ``bits`` is how much the answer gives away at most,
    ``spent`` that of all answers of this policy to this run, this one included. ``gate`` is there for ``once`` alone.
    """

    task: str
    run: str
    policy: PolicyName
    candidate: str
    released: float | None
    best_before: float | None
    bits: float
    spent: float
    looks: int
    gate: Gate | None


def look(
    task: str | Task,
    kernel: str | os.PathLike[str],
    books: str | os.PathLike[str],
    *,
    policy: PolicyName = "once",
    run: str = "",
    score: float | None = None,
    scale: Scale = "full",
    draws: int = FEWEST_TIMED,
    untimed: int = FEWEST_UNTIMED,
    progress: OnProgress = silent,
    **options: Any,
) -> Look:
    """Gates ``kernel`` as ``kfp.gate`` does, if ``policy`` allows, with the seed that ``books`` committed to.

    ``run`` names whose looks are counted together, by default the folder. ``score`` is the S that the search measured
    itself, which ``thresholdout`` compares with. The whole record of the gate stays in the folder, for its owner; but
    for ``once``, ``progress`` hears no names of configurations. Further ``options`` are those of ``kfp.gate``. Raises
    ``kfp.LookRefused`` for what the policy doesn't allow, which is on the books then, and ``kfp.UsageError`` where Phi
    is asked for and the device has no ceiling.
    """
    chosen = policy_named(policy)
    wanted, source = get_task(task), source_text(kernel)
    folder = Path(books)
    sha256 = source_hash(source)
    with refusals(folder):
        folder.mkdir(parents=True, exist_ok=True)
    commit(folder)
    seed = committed_seed(folder)
    planned = draw_all(wanted, scale, seed, source, draws, untimed)
    labels = [wanted.published_held_out(scale).label, *(drawn.configuration.label for drawn in planned.timed)]
    labels.append(f"{len(planned.untimed)} untimed draws")
    found: list[Gate] = []

    def measure() -> float:
        gated = gate(
            wanted, source, scale=scale, draws=draws, untimed=untimed, seed=seed,
            out=folder / GATES / f"{wanted.name}-{scale}-{sha256[:16]}",
            progress=progress if policy == "once" else lambda stage: progress(replace(stage, configuration="")),
            **options,
        )  # fmt: skip
        found.append(gated)
        return _gain(gated) if policy in ("once", "retro") else _phi(gated)

    asked = Ask(run or folder.name, sha256, f"{policy}: gate of {sha256}", _searched(folder), score)
    ledger = Ledger(folder / LEDGER)
    before = _answers(ledger, asked.run, policy)
    answer = ledger.look(chosen, asked, labels, "asked for", measure)
    answers = _answers(ledger, asked.run, policy)
    return Look(
        task=wanted.name,
        run=asked.run,
        policy=policy,
        candidate=sha256,
        released=answer.released,
        best_before=max((value for value, _ in before if value is not None), default=None),
        bits=answer.bits,
        spent=sum(bits for _, bits in answers),
        looks=len(answers),
        gate=found[0] if policy == "once" else None,
    )


def _answers(ledger: Ledger, run: str, policy: PolicyName) -> list[tuple[float | None, float]]:
    entries = [entry for entry in ledger.entries(run) if entry.kind == "look" and entry.policy == policy]
    return [(entry.released, entry.bits) for entry in entries if entry.reason == "finished"]


def _searched(folder: Path) -> bool:
    """Whether there is no search, or it is over."""
    return not (folder / "run.json").is_file() or RunReader(folder).finale() is not None


def _gain(gated: Gate) -> float:
    return gated.held_out_gain or 0.0


def _phi(gated: Gate) -> float:
    """In [0, 1], as the policies' bounds want it; 0 where none was measured."""
    if gated.phi is None and gated.drawn is not None and gated.drawn.compared:
        raise UsageError(f"policy: Phi is not known on {gated.device.name}, which has no ceiling for {gated.task}")
    return min(max(gated.phi or 0.0, 0.0), 1.0)
