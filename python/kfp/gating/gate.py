"""``kfp.gate``: draws, untimed trials, paired comparisons, a verdict."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from kfp import _core, machine
from kfp.ceilings import ceilings
from kfp.comparison import FEWEST_CLAIM_PROCESSES, SEED, InDoubt, compare
from kfp.errors import UsageError
from kfp.evaluation import require_choice
from kfp.gating.draws import (
    FEWEST_TIMED,
    FEWEST_UNTIMED,
    Draws,
    commitment,
    demands_of,
    draw_all,
    new_seed,
    randomness,
    require_seed,
    seed_text,
)
from kfp.gating.folder import GateFolder, Request
from kfp.gating.results import Gate, HeldOut, Trial
from kfp.gating.trials import Bench, try_all
from kfp.gating.variations import varied
from kfp.gating.verdicts import NOT_ITS_FAULT, Decision, decide, held_out_row, in_doubt, place, ranked
from kfp.limits import Limits
from kfp.progress import OnProgress, Progress, silent
from kfp.results import Ceilings, Math
from kfp.scoring import binding_bound, geometric_mean
from kfp.sources import seed_source, source_hash, source_text
from kfp.tasks import get_task
from kfp.tasks.base import Configuration, Scale, Task
from kfp.timing.looks import CLAIM, Policy
from kfp.timing.results import Comparison, ConfigurationComparison

# As published: a transfer is a gain of five per cent over the seed.
THRESHOLD = 1.05
PROCESSES = 5
# A comparison without a ratio, because the clock can't be trusted, is made again.
ATTEMPTS = 3

_FULL = replace(CLAIM, half_width=0.005)
# Small configurations last a millisecond or less.
_SMALL = Policy(seconds=0.25, long_seconds=0.6, half_width=0.01, most_pairs=256, warm_up_seconds=0.2)


def gate(
    task: str | Task,
    kernel: str | os.PathLike[str],
    *,
    device: str = "auto",
    scale: Scale = "full",
    math: Math = "fast",
    reference: str | os.PathLike[str] = SEED,
    against: str | os.PathLike[str] | None = None,
    draws: int = FEWEST_TIMED,
    untimed: int = FEWEST_UNTIMED,
    seed: int | None = None,
    threshold: float = THRESHOLD,
    claimed: float | None = None,
    processes: int = PROCESSES,
    policy: Policy | None = None,
    limits: Limits | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: OnProgress = silent,
) -> Gate:
    """Whether the gain of ``kernel`` over the task's seed holds for configurations that nobody could have tuned for.

    ``untimed`` small draws over the whole contract are run for correctness, some in checked mode. Then the kernel is
    measured in pairs against ``reference``, the task's seed by default: at the search configurations, at the published
    held-out one, and on ``draws`` draws of comparable work; on the held-out ones also against the kernel ``against``.
    A gain is one by more than ``threshold``, judged by the interval. ``claimed`` is the gain that a search reported, to
    be held against what is found. ``processes`` fresh processes, at least 3, measure each; ``policy`` is how long.

    The draws are a function of ``seed`` (128 random bits by default) and of the kernel's source; the record holds the
    seed, and the same call with it makes the same draws. With the folder ``out`` a gate that was killed goes on where
    it stopped.

    Whatever the kernel does, the answer is a ``Gate``. Raises ``kfp.Error`` when the call itself is wrong or this
    machine lacks the device.
    """
    require_choice("scale", scale, get_args(Scale))
    require_choice("math", math, get_args(Math))
    for name, value in (("threshold", threshold), ("claimed", claimed)):
        if value is not None and not 0 < value < float("inf"):
            raise UsageError(f"{name}: expected a finite ratio above 0, got {value!r}")
    if processes < FEWEST_CLAIM_PROCESSES:
        raise UsageError(f"processes: expected at least {FEWEST_CLAIM_PROCESSES}, got {processes}")
    wanted = get_task(task)
    source = source_text(kernel)
    first = seed_source(wanted) if reference == SEED else source_text(reference)
    other = source_text(against) if against is not None else None
    chosen = require_seed(new_seed() if seed is None else seed)
    resolved = machine.resolve(device)
    folder = GateFolder(Path(out)) if out is not None else None
    if folder is not None:
        request = Request(
            task=wanted.name,
            device=resolved.name,
            scale=scale,
            math=math,
            threshold=threshold,
            timed=draws,
            untimed=untimed,
            claimed=claimed,
            source_sha256=source_hash(source),
            reference_sha256=source_hash(first),
            against_sha256=source_hash(other) if other is not None else "",
            processes=processes,
            commitment=commitment(chosen),
        )
        found = int(folder.begin(request, seed_text(chosen)), 0)
        if seed is not None and found != seed:
            raise UsageError(f"seed: {folder.path} holds a gate with another seed; choose another folder")
        chosen = found
        known = folder.result()
        if known is not None:
            return known
    session = _Session(
        task=wanted,
        source=source,
        reference=first,
        reference_name=SEED if reference == SEED else "the reference",
        against=other,
        bench=Bench(resolved, math, limits or Limits()),
        processes=processes,
        policy=policy or (_SMALL if scale == "small" else _FULL),
        scale=scale,
        threshold=threshold,
        claimed=claimed,
        seed=chosen,
        draws=draw_all(wanted, scale, chosen, source, draws, untimed),
        folder=folder,
        progress=progress,
    )
    gate_result = session.run()
    if folder is not None:
        folder.write_result(gate_result)
    return gate_result


@dataclass(frozen=True)
class _Session:
    task: Task
    source: str
    reference: str
    reference_name: str
    against: str | None
    bench: Bench
    processes: int
    policy: Policy
    scale: Scale
    threshold: float
    claimed: float | None
    seed: int
    draws: Draws
    folder: GateFolder | None
    progress: OnProgress

    def run(self) -> Gate:
        started = time.monotonic()
        trials = self._trials()
        in_distribution = self._compared("in_distribution", self.task, self._search_points(), self.reference)
        drawn_task = varied(self.task, {drawn.configuration: drawn.variation for drawn in self.draws.timed})
        points = tuple(drawn.configuration for drawn in self.draws.timed)
        published = drawn = against = None
        if in_distribution.compared or in_distribution.verdict in NOT_ITS_FAULT:
            gained = in_distribution.interval is not None and place(in_distribution.interval, self.threshold) == "above"
            doubted = self._in_doubt if gained else None
            published = self._compared("published", self.task, (self._published(),), self.reference, doubted)
            # A kernel that is wrong on small draws needs no timing on large ones.
            if all(trial.verdict == "right" for trial in trials if trial.counts):
                drawn = self._compared("drawn", drawn_task, points, self.reference, doubted)
        if self.against is not None and drawn is not None:
            against = self._compared("against", drawn_task, (self._published(), *points), self.against)
        held_out = self._rows(drawn_task, published, drawn)
        decision = ranked(decide(in_distribution, trials, held_out, self.threshold), self.bench.device)
        return Gate(
            task=self.task.name,
            device=self.bench.device,
            scale=self.scale,
            math=self.bench.math,
            threshold=self.threshold,
            verdict=decision.verdict,
            reason=decision.reason,
            phi=_phi([row for row in held_out if row.origin == "drawn"], decision),
            phi_published=_phi([row for row in held_out if row.origin == "published_held_out"], decision),
            claimed=self.claimed,
            in_distribution=in_distribution,
            held_out=held_out,
            published=published,
            drawn=drawn,
            compared_with=against,
            trials=trials,
            weak_axis=self.task.weak_axis,
            flags=_flags(trials, [c for c in (in_distribution, published, drawn) if c is not None]),
            gate_seed=seed_text(self.seed),
            commitment=commitment(self.seed),
            source_sha256=source_hash(self.source),
            seconds=time.monotonic() - started,
            kfp_version=_core.__version__,
        )

    def _search_points(self) -> tuple[Configuration, ...]:
        return tuple(replace(point, seed=self._data_seed()) for point in self.task.configurations(self.scale))

    def _published(self) -> Configuration:
        return replace(self.task.published_held_out(self.scale), seed=self._data_seed())

    def _data_seed(self) -> int:
        return int(randomness(self.seed, self.source, self.task, self.scale, "data").integers(1 << 31))

    def _trials(self) -> tuple[Trial, ...]:
        known = self.folder.trials() if self.folder is not None else None
        if known is None:
            self.progress(Progress("compile"))
            known = try_all(self.bench, self.task, self.source, self.draws.untimed, self.progress)
            if self.folder is not None:
                self.folder.write_trials(known)
        return known

    def _in_doubt(self, rows: Sequence[ConfigurationComparison]) -> bool:
        return in_doubt(rows, self.threshold)

    def _compared(
        self,
        stage: str,
        task: Task,
        points: Sequence[Configuration],
        reference: str,
        doubted: InDoubt | None = None,
    ) -> Comparison:
        known = self.folder.comparison(stage) if self.folder is not None else None
        if known is not None:
            return known
        for attempt in range(ATTEMPTS):
            found = self._compare(f"order {stage} {attempt}", task, points, reference, doubted)
            if found.verdict not in ("unmeasurable", "unstable"):
                break
        if reference is self.reference:
            found = replace(found, reference_name=self.reference_name)
        if self.folder is not None:
            self.folder.write_comparison(stage, found)
        return found

    def _compare(
        self, purpose: str, task: Task, points: Sequence[Configuration], reference: str, doubted: InDoubt | None
    ) -> Comparison:
        return compare(
            task,
            self.source,
            reference,
            device=self.bench.device.name,
            scale=self.scale,
            seed=int(randomness(self.seed, self.source, self.task, self.scale, purpose).integers(1 << 31)),
            math=self.bench.math,
            grade="claim",
            processes=self.processes,
            policy=self.policy.with_margin(self.threshold - 1),
            limits=self.bench.limits,
            configurations=points,
            in_doubt=doubted,
            progress=self.progress,
        )

    def _rows(self, drawn_task: Task, published: Comparison | None, drawn: Comparison | None) -> tuple[HeldOut, ...]:
        limits = ceilings(self.bench.device, lambda: self.progress(Progress("ceilings")))
        laws = {drawn.configuration.label: drawn.variation.law for drawn in self.draws.timed}
        points = {point.label: point for point in (self._published(), *(d.configuration for d in self.draws.timed))}

        def share(row: ConfigurationComparison, seconds: float) -> float | None:
            return _share(drawn_task, points[row.label], seconds, limits)

        rows = [row for comparison in (published, drawn) if comparison for row in comparison.configurations]
        return tuple(held_out_row(row, laws.get(row.label, "own"), self.threshold, share) for row in rows)


def _share(task: Task, configuration: Configuration, seconds: float, limits: Ceilings) -> float | None:
    bound = binding_bound(demands_of(task, configuration), limits)
    return bound.seconds / seconds if bound is not None else None


def _phi(rows: Sequence[HeldOut], decision: Decision) -> float | None:
    if decision.verdict == "wrong":
        return 0.0
    shares = [row.share for row in rows]
    known = [share for share in shares if share is not None]
    return geometric_mean(known) if known and len(known) == len(shares) else None


def _flags(trials: Sequence[Trial], comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    flags = []
    assuming = next((trial for trial in trials if trial.narrowing and trial.verdict != "right"), None)
    if assuming is not None:
        flags.append(
            "it relies on the threadgroup that its contract names, without declaring it: with narrower ones it is "
            f"{assuming.verdict}"
        )
    rows = [row for comparison in comparisons for row in comparison.configurations]
    flags += [f"{row.label}: {flag}" for row in rows for flag in row.flags if flag.startswith("suspect")]
    disturbed = sum(any(not flag.startswith("suspect") for flag in row.flags) for row in rows)
    if disturbed:
        flags.append(f"remarks on the clock at {disturbed} of {len(rows)} configurations, in the record")
    floor = max((row.aa_floor for row in rows if row.aa_floor is not None), default=0.0)
    if floor > THRESHOLD - 1:
        flags.append(f"the reference differs from itself by up to {100 * floor:.2g} %: this machine is noisy")
    return tuple(dict.fromkeys(flags))
