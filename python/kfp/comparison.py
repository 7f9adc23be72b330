"""Two kernels against each other: which is faster, by how much, and how sure that is."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias, get_args

import numpy as np

from kfp import _core, interface, machine
from kfp.ceilings import ceilings
from kfp.comparing import Instruments, arm_timing, compare_compiled, compile_instruments
from kfp.compiling import Compilation, compile_source
from kfp.errors import UsageError
from kfp.evaluation import require_choice
from kfp.limits import Limits
from kfp.progress import OnProgress, Progress, silent
from kfp.results import Device, Diagnostic, Math
from kfp.sources import seed_source, source_hash, source_text
from kfp.tasks import get_task
from kfp.tasks.base import Configuration, Scale, Task
from kfp.timing.looks import CLAIM, SEARCH, Policy, decide
from kfp.timing.results import Cache, Comparison, ComparisonVerdict, ConfigurationComparison, Grade
from kfp.timing.statistics import Interval, over_configurations, over_processes

InDoubt: TypeAlias = Callable[[Sequence[ConfigurationComparison]], bool]

SEED = "seed"
POLICIES: dict[Grade, Policy] = {"search": SEARCH, "claim": CLAIM}
FEWEST_CLAIM_PROCESSES = 3
PROCESSES: dict[Grade, int] = {"search": 1, "claim": 5}


def compare(
    task: str | Task,
    kernel: str | os.PathLike[str],
    reference: str | os.PathLike[str] = SEED,
    *,
    device: str = "auto",
    scale: Scale = "full",
    seed: int = 0,
    math: Math = "fast",
    grade: Grade = "search",
    cache: Cache = "warm",
    processes: int | None = None,
    policy: Policy | None = None,
    limits: Limits | None = None,
    configurations: Sequence[Configuration] | None = None,
    until: float = inf,
    in_doubt: InDoubt | None = None,
    progress: OnProgress = silent,
) -> Comparison:
    """How many times faster ``kernel`` is than ``reference``, in pairs over the same inputs, both checked first.

    ``kernel`` and ``reference`` are a kernel's text or a path to read; ``"seed"`` is the task's seed kernel. ``seed``
    feeds the inputs and the order of the samples. ``grade`` ``"claim"`` measures in ``processes`` fresh processes (5,
    at least 3) and treats the process as a random effect; ``policy`` replaces the grade's own. With ``cache``
    ``"cold"`` every run starts with nothing of its buffers in any cache. After ``until``, by the monotonic clock, no
    configuration is begun, and before it none is measured that would take longer: a comparison that lacks some is
    ``undecided``. ``in_doubt``, asked of the configurations after all processes, may call for as many more, which count
    like the first.

    Whatever the kernels do, the answer is a ``Comparison``. Raises ``kfp.Error`` when the call itself is wrong or this
    machine lacks the device.
    """
    require_choice("scale", scale, get_args(Scale))
    require_choice("math", math, get_args(Math))
    require_choice("grade", grade, get_args(Grade))
    require_choice("cache", cache, get_args(Cache))
    wanted = get_task(task)
    points = wanted.configurations(scale) if configurations is None else tuple(configurations)
    if not points:
        raise UsageError("configurations: expected at least one, got none")
    if configurations is None:
        points = tuple(replace(point, seed=seed) for point in points)
    count = PROCESSES[grade] if processes is None else processes
    fewest = FEWEST_CLAIM_PROCESSES if grade == "claim" else 1
    if count < fewest:
        raise UsageError(f"processes: expected at least {fewest} for grade {grade!r}, got {count}")
    request = _Request(
        task=wanted,
        kernel=source_text(kernel),
        reference=seed_source(wanted) if reference == SEED else source_text(reference),
        reference_name=_name_of(reference),
        device=machine.resolve(device),
        scale=scale,
        seed=seed,
        math=math,
        grade=grade,
        cache=cache,
        processes=count,
        policy=policy or POLICIES[grade],
        limits=limits or Limits(),
        configurations=points,
        until=until,
        in_doubt=in_doubt,
        progress=progress,
    )
    return request.compare()


def _name_of(reference: str | os.PathLike[str]) -> str:
    if isinstance(reference, os.PathLike):
        return os.path.basename(os.fspath(reference))
    return SEED if reference == SEED else "the given source"


class _Stopped(Exception):
    """No configuration was compared."""

    def __init__(self, verdict: ComparisonVerdict, reason: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = reason
        self.diagnostics = diagnostics


@dataclass(frozen=True)
class _Request:
    task: Task
    kernel: str
    reference: str
    reference_name: str
    device: Device
    scale: Scale
    seed: int
    math: Math
    grade: Grade
    cache: Cache
    processes: int
    policy: Policy
    limits: Limits
    configurations: tuple[Configuration, ...]
    until: float
    in_doubt: InDoubt | None
    progress: OnProgress

    def compare(self) -> Comparison:
        per_process: list[tuple[ConfigurationComparison, ...]] = []
        diagnostics: tuple[Diagnostic, ...] = ()
        for process in range(2 * self.processes):
            if process == self.processes and not (self.in_doubt and self.in_doubt(self._merged(per_process))):
                break
            try:
                diagnostics, rows = self._in_fresh_process(process)
            except _Stopped as stopped:
                return self._result(stopped.verdict, stopped.reason, (), stopped.diagnostics)
            per_process.append(rows)
            if not all(row.compared for row in rows) or len(rows) < len(self.configurations):
                # What a kernel did in one process counts, whatever it did in the others.
                per_process = [rows]
                break
        rows = self._merged(per_process)
        if self.device.is_virtual:
            rows = tuple(unranked(row) for row in rows)
        return self._conclude(rows, diagnostics)

    def _merged(self, per_process: Sequence[Sequence[ConfigurationComparison]]) -> tuple[ConfigurationComparison, ...]:
        return tuple(_merge(list(row), self.policy) for row in zip(*per_process, strict=True))

    def _in_fresh_process(self, process: int) -> tuple[tuple[Diagnostic, ...], tuple[ConfigurationComparison, ...]]:
        with machine.open_worker(self.device, self.limits) as worker:
            self.progress(Progress("compile"))
            instruments = compile_instruments(worker)
            reference, candidate = self._compile_both(worker)
            rows = self._rows(worker, instruments, reference, candidate, process)
            return candidate.diagnostics, rows

    def _compile_both(self, worker: _core.Worker) -> tuple[Compilation, Compilation]:
        reference = self._compile(worker, self.reference)
        if reference.verdict != "right":
            raise _Stopped("reference", f"the reference: {reference.verdict}: {reference.reason}")
        candidate = self._compile(worker, self.kernel)
        if candidate.verdict != "right":
            raise _Stopped(candidate.verdict, candidate.reason, candidate.diagnostics)
        return reference, candidate

    def _compile(self, worker: _core.Worker, source: str) -> Compilation:
        compilation = compile_source(worker, self.device, source, math=self.math)
        problems = interface.problems(self.task, compilation.kernels) if compilation.ok else ()
        if problems:
            return replace(compilation, ok=False, verdict="pipeline error", reason="; ".join(problems))
        return compilation

    def _rows(
        self,
        worker: _core.Worker,
        instruments: Instruments,
        reference: Compilation,
        candidate: Compilation,
        process: int,
    ) -> tuple[ConfigurationComparison, ...]:
        total = len(self.configurations)
        numbers = {configuration: i for i, configuration in enumerate(self.configurations, start=1)}
        rows = compare_compiled(
            worker,
            instruments,
            self.task,
            self.configurations,
            reference,
            candidate,
            policy=self.policy,
            cache=self.cache,
            ceilings=ceilings(self.device, lambda: self.progress(Progress("ceilings"))),
            seed=int(np.random.SeedSequence([self.seed, process]).generate_state(1)[0]),
            until=self.until,
            progress=lambda stage, c: self.progress(Progress(stage, c.label, numbers[c], total)),
        )
        return tuple(rows)

    def _conclude(self, rows: tuple[ConfigurationComparison, ...], diagnostics: tuple[Diagnostic, ...]) -> Comparison:
        failed = next((row for row in rows if not row.compared), None)
        left = len(self.configurations) - len(rows)
        not_run = f"{left} configuration{'' if left == 1 else 's'} not run"
        if failed is not None:
            reason = f"{failed.label}: {failed.reason}"
            if left:
                reason += f"; {not_run}"
            return self._result(failed.verdict, reason, rows, diagnostics)
        if left:
            return self._result("undecided", f"no time was left: {not_run}", rows, diagnostics)
        intervals = [row.interval for row in rows if row.interval is not None]
        margin = max(row.margin for row in rows)
        whole = over_configurations(intervals)
        assert whole is not None
        alike = len(rows) == 1 or self.device.is_virtual
        verdict = rows[0].verdict if alike else decide(whole, margin)
        reason = "; ".join(f"{row.label}: {row.reason}" for row in rows if row.reason)
        return replace(self._result(verdict, reason, rows, diagnostics), interval=whole, margin=margin)

    def _result(
        self,
        verdict: ComparisonVerdict,
        reason: str,
        rows: tuple[ConfigurationComparison, ...],
        diagnostics: tuple[Diagnostic, ...],
    ) -> Comparison:
        return Comparison(
            task=self.task.name,
            device=self.device,
            scale=self.scale,
            seed=self.seed,
            math=self.math,
            grade=self.grade,
            cache=self.cache,
            verdict=verdict,
            reason=reason,
            interval=None,
            margin=self.policy.margin,
            configurations=rows,
            diagnostics=diagnostics,
            reference_name=self.reference_name,
            reference_sha256=source_hash(self.reference),
            candidate_sha256=source_hash(self.kernel),
            kfp_version=_core.__version__,
        )


def unranked(row: ConfigurationComparison) -> ConfigurationComparison:
    """As measured on a paravirtualised device, whose times say right or wrong, but not faster or slower."""
    if not row.compared:
        return row
    return replace(row, verdict="undecided", reason="a virtual device: its timings are not ranked")


def _merge(rows: list[ConfigurationComparison], policy: Policy) -> ConfigurationComparison:
    """The same configuration in several processes: the process is a random effect."""
    first = rows[0]
    if len(rows) == 1:
        return first
    whole: Interval = over_processes([row.interval for row in rows if row.interval is not None])
    margin = max(row.margin for row in rows)
    series = tuple(one for row in rows for one in row.processes)
    verdict = decide(whole, margin)
    return replace(
        first,
        verdict=verdict,
        reason="" if verdict != "undecided" else f"{len(rows)} processes leave it open",
        interval=whole,
        margin=margin,
        aa_floor=max(row.aa_floor or 0.0 for row in rows),
        pairs=sum(row.pairs for row in rows),
        drops=sum(row.drops for row in rows),
        reference=arm_timing(np.concatenate([one.reference for one in series])),
        candidate=arm_timing(np.concatenate([one.candidate for one in series])),
        processes=series,
        flags=tuple(dict.fromkeys(flag for row in rows for flag in row.flags)),
    )
