"""``kfp.audit``: from a kernel to the mechanism behind its gain."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import get_args

from kfp import _core, machine
from kfp.auditing.folder import keep
from kfp.auditing.lab import Lab
from kfp.auditing.places import places_of
from kfp.auditing.results import Audit
from kfp.auditing.session import Session
from kfp.comparison import SEED
from kfp.errors import UsageError
from kfp.evaluation import require_choice
from kfp.gating.draws import FEWEST_TIMED, FEWEST_UNTIMED, draw_all, new_seed, require_seed, seed_text
from kfp.gating.gate import THRESHOLD
from kfp.gating.trials import Bench
from kfp.limits import Limits
from kfp.progress import OnProgress, silent
from kfp.results import Math
from kfp.runs.run import Run
from kfp.sources import seed_source, source_hash, source_text
from kfp.tasks import get_task
from kfp.tasks.base import Scale, Task
from kfp.timing.looks import Policy

BUDGETS: dict[Scale, float] = {"small": 90.0, "full": 900.0}
# A gain is told from none by pairs that are short, so that a busy machine spoils few of them.
POLICIES: dict[Scale, Policy] = {
    "small": Policy(
        seconds=0.12,
        long_seconds=0.5,
        half_width=0.02,
        most_pairs=128,
        warm_up_seconds=0.05,
        sample_seconds=3e-4,
        threads=1,
    ),
    "full": Policy(seconds=0.5, long_seconds=4.0, half_width=0.01, most_pairs=256, warm_up_seconds=0.3),
}


def audit(
    task: str | Task,
    kernel: str | os.PathLike[str],
    *,
    device: str = "auto",
    scale: Scale = "full",
    math: Math = "fast",
    reference: str | os.PathLike[str] = SEED,
    run: str | os.PathLike[str] | Run | None = None,
    redacted: str | os.PathLike[str] | Run | None = None,
    seed: int | None = None,
    threshold: float = THRESHOLD,
    budget: float | None = None,
    policy: Policy | None = None,
    limits: Limits | None = None,
    progress: OnProgress = silent,
) -> Audit:
    """By which mechanism the gain of ``kernel`` over the task's seed (or ``reference``) fails to transfer, if it does.

    Runs it on draws that nobody could have tuned for, as a gate does, and then looks for the reason: one parameter
    moved at a time, other data, other geometry, arms and where they run. A gain is one by more than ``threshold``.
    ``budget`` is in seconds (90 at the small scale, 900 at the full one): evidence comes in the order of what it costs
    and tells, and what the budget does not reach is marked so. ``seed`` (128 random bits by default) gives, with the
    source, everything that is drawn.

    ``run`` is the search that the kernel comes from: its starting kernel is the reference, its promoted kernels are
    measured as well, to date the onset, and the audit is kept in its folder. ``redacted`` is a run of the same task
    that was not told of the held-out configuration, to be held against one that was.

    Whatever the kernel does, the answer is an ``Audit``. Raises ``kfp.Error`` when the call itself is wrong or this
    machine lacks the device.
    """
    require_choice("scale", scale, get_args(Scale))
    require_choice("math", math, get_args(Math))
    allowed = BUDGETS[scale] if budget is None else budget
    for name, value in (("threshold", threshold), ("budget", allowed)):
        if not 0 < value < float("inf"):
            raise UsageError(f"{name}: expected a finite number above 0, got {value!r}")
    wanted = get_task(task)
    source = source_text(kernel)
    own, other = (None if one is None else one if isinstance(one, Run) else Run(Path(one)) for one in (run, redacted))
    if own is not None and own.spec.task != wanted.name:
        raise UsageError(f"run: {own.folder} is a run of {own.spec.task}, not of {wanted.name}")
    if own is not None and reference == SEED:
        first = own.reader.start
    else:
        first = seed_source(wanted) if reference == SEED else source_text(reference)
    chosen = require_seed(new_seed() if seed is None else seed)
    started = time.monotonic()
    lab = Lab(
        bench=Bench(machine.resolve(device), math, limits or _limits(allowed)),
        task=wanted,
        scale=scale,
        source=source,
        reference=first,
        seed=chosen,
        policy=(policy or POLICIES[scale]).with_margin(threshold - 1),
        progress=progress,
        deadline=started + allowed,
    )
    draws = draw_all(wanted, scale, chosen, source, FEWEST_TIMED, FEWEST_UNTIMED)
    session = Session(lab, places_of(lab, draws), threshold, allowed, own, other, started)
    decision = session.run()
    result = Audit(
        task=wanted.name,
        device=lab.bench.device,
        scale=scale,
        math=math,
        threshold=threshold,
        mode=decision.mode,
        grade=decision.grade,
        rule=decision.rule,
        reason=decision.reason,
        fired=decision.fired,
        evidence=session.evidence(),
        static=session.static,
        coverage=session.coverage,
        uses=session.uses,
        flags=tuple(session.flags),
        reference_name=SEED if reference == SEED else "the reference",
        audit_seed=seed_text(chosen),
        source_sha256=source_hash(source),
        budget=allowed,
        seconds=time.monotonic() - started,
        kfp_version=_core.__version__,
    )
    if own is not None:
        keep(own.folder, result)
    return result


def _limits(budget: float) -> Limits:
    """A kernel that hangs must leave time for the rest."""
    usual = Limits()
    return replace(usual, run_seconds=min(usual.run_seconds, max(budget / 8, 1.0)))
