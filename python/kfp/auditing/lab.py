"""Where an audit runs things: for correctness in one process, in pairs against the reference in another."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kfp import _core, bridge, machine
from kfp.auditing.points import Point, exists, work_of
from kfp.auditing.results import Probe, ProbeVerdict
from kfp.comparing import NO_TIME
from kfp.comparison import compare
from kfp.compiling import compile_source
from kfp.errors import Error
from kfp.gating.draws import Drawn, randomness
from kfp.gating.results import Trial
from kfp.gating.trials import Bench, trial_of, try_all
from kfp.gating.variations import PLAIN, varied
from kfp.limits import Limits
from kfp.progress import OnProgress
from kfp.running import references
from kfp.tasks.base import Scale, Task
from kfp.timing.looks import Policy
from kfp.timing.results import ConfigurationComparison
from kfp.timing.statistics import Interval, over_configurations

# Executions live as long as their process: a new one after so many configurations. Between them there is time to ask
# whether any is left.
_AT_ONCE = 6
_UNTIMED_AT_FIRST = 4
_UNTIMED_AT_ONCE = 20
# A run, or compiling, is given what is left of the budget, and so much where nothing is.
_SHORTEST_RUN = 1.0
_SHORTEST_COMPILING = 5.0
# A kernel that takes its process down, or a point that does, is left behind, so often.
_RESTARTS = 6
# Not the kernel's fault: nothing was learnt about it.
NOTHING_LEARNT: tuple[ProbeVerdict, ...] = ("reference", "unmeasurable", "unstable", "protocol")
COMPARED: tuple[ProbeVerdict, ...] = ("win", "no change", "regression", "undecided")


@dataclass
class Lab:
    """``source`` is the candidate, ``reference`` what it is measured against."""

    bench: Bench
    task: Task
    scale: Scale
    source: str
    reference: str
    seed: int
    policy: Policy
    progress: OnProgress
    # Labels at which the reference isn't right, so that they are no configurations of the task.
    illegal: set[str] = field(default_factory=set)
    # By the monotonic clock: nothing is begun after it.
    deadline: float = math.inf

    def number(self, purpose: str) -> int:
        """A seed for this purpose: a function of the audit's seed and of the candidate's source."""
        return int(randomness(self.seed, self.source, self.task, self.scale, purpose).integers(1 << 31))

    def random(self, purpose: str) -> np.random.Generator:
        return randomness(self.seed, self.source, self.task, self.scale, purpose)

    @property
    def late(self) -> bool:
        return time.monotonic() > self.deadline

    def right_or_wrong(
        self,
        points: Sequence[Point],
        *,
        source: str | None = None,
        checked: Sequence[str] = (),
        until: float = math.inf,
    ) -> list[Probe]:
        """Runs without timing, the first ones in any case; ``checked`` labels are run in checked mode as well. After
        ``until`` no others are begun.
        """
        until = min(until, self.deadline)
        found: list[Probe] = []
        left, size = list(points), _UNTIMED_AT_FIRST
        while left and (not found or time.monotonic() < until):
            part, left = [point for point in left[:size] if self._exists(point)], left[size:]
            started = time.monotonic()
            found += self._run_all(part, source or self.source, checked, until)
            pace = (time.monotonic() - started) / max(len(part), 1)
            size = max(1, min(_UNTIMED_AT_ONCE, int((until - time.monotonic()) / pace)))
        return found

    def _run_all(self, points: Sequence[Point], source: str, checked: Sequence[str], until: float) -> list[Probe]:
        by_label = {point.label: point for point in points}
        left = [Drawn(point.configuration, point.variation, point.label in checked) for point in points]
        found: list[Probe] = []
        for restart in range(_RESTARTS):
            if not left or (restart and time.monotonic() > until):
                break
            trials = [trial for trial in self._tried(source, left) if not _unanswered(trial)]
            found += [_untimed(by_label[trial.label], trial) for trial in trials]
            answered = {trial.label for trial in trials}
            rest = [drawn for drawn in left if drawn.configuration.label not in answered]
            # One that can't be asked for, and wasn't, is not asked for again.
            lost = any(trial.verdict not in ("right", "wrong") for trial in trials)
            left = rest if lost and len(rest) < len(left) else []
        return found

    def _tried(self, source: str, drawn: Sequence[Drawn]) -> Sequence[Trial]:
        limits = self._limits()
        try:
            trials = try_all(replace(self.bench, limits=limits), self.task, source, drawn, self.progress)
        except Error as error:
            return [trial_of(one, False, False, "protocol", str(error)) for one in drawn]
        if not self._cuts_short(limits):
            return trials
        return [replace(one, verdict="protocol") if one.verdict == "timeout" else one for one in trials]

    def _limits(self) -> Limits:
        """No run may take longer than what is left of the budget; who is stopped by that is not to blame."""
        usual = self.bench.limits
        left = self.deadline - time.monotonic()
        return replace(
            usual,
            run_seconds=min(usual.run_seconds, max(left, _SHORTEST_RUN)),
            compile_seconds=min(usual.compile_seconds, max(left, _SHORTEST_COMPILING)),
        )

    def _cuts_short(self, limits: Limits) -> bool:
        return limits.run_seconds < self.bench.limits.run_seconds

    def in_pairs(
        self,
        purpose: str,
        points: Sequence[Point],
        *,
        source: str | None = None,
        reference: str | None = None,
        policy: Policy | None = None,
        processes: int = 1,
        until: float = math.inf,
    ) -> list[Probe]:
        """Paired comparisons of ``source`` (the candidate) with ``reference``, both checked first, in each of
        ``processes``; without the points for which there was no time before ``until``.
        """
        until = min(until, self.deadline)
        legal = [point for point in points if point.label not in self.illegal]
        # References are remembered by the type of the task, and that of a varied one is new every time.
        plain = [point for point in legal if point.variation == PLAIN]
        others = [point for point in legal if point.variation != PLAIN]
        found: list[Probe] = []
        for group in (plain, others):
            for first in range(0, len(group), _AT_ONCE):
                if time.monotonic() > until:
                    break
                found += self._compared(
                    f"{purpose} {len(found)}",
                    [point for point in group[first : first + _AT_ONCE] if self._exists(point)],
                    source or self.source,
                    reference or self.reference,
                    policy or self.policy,
                    processes,
                    until,
                )
        return found

    def reference_seconds(self, point: Point) -> float:
        """Of the shorter of two runs of the reference, without any care; infinite where they don't come to an end."""
        task = varied(self.task, {point.configuration: point.variation})
        try:
            with machine.open_worker(self.bench.device, self._limits()) as worker:
                compilation = compile_source(worker, self.bench.device, self.reference, math=self.bench.math)
                if compilation.library is None:
                    return math.inf
                caps = {kernel.name: kernel.max_total_threads_per_threadgroup for kernel in compilation.kernels}
                plan = task.plan(point.configuration, references.inputs(task, point.configuration), caps)
                execution = worker.prepare(compilation.library, bridge.plan(plan))
                return min(worker.run(execution).wall_seconds for _ in range(2))
        except (Error, _core.Error):
            return math.inf

    def _exists(self, point: Point) -> bool:
        """A neighbour may be no configuration of the task; everything else is one."""
        return not point.axis or exists(self.task, point.configuration)

    def _compared(
        self,
        purpose: str,
        points: Sequence[Point],
        source: str,
        reference: str,
        policy: Policy,
        processes: int,
        until: float,
    ) -> list[Probe]:
        if not points:
            return []
        limits = self._limits()
        variations = {point.configuration: point.variation for point in points if point.variation != PLAIN}
        task = varied(self.task, variations) if variations else self.task
        comparison = compare(
            task,
            source,
            reference,
            device=self.bench.device.name,
            scale=self.scale,
            seed=self.number(purpose),
            math=self.bench.math,
            processes=processes,
            policy=policy,
            limits=limits,
            configurations=[point.configuration for point in points],
            until=until,
            progress=self.progress,
        )
        rows = {row.label: row for row in comparison.configurations}
        found = [_timed(self.task, point, rows[point.label]) for point in points if point.label in rows]
        left = points[len(found) :]
        cut_short = self._cuts_short(limits)
        known = [one for one in found if one.detail != NO_TIME and not (cut_short and one.verdict == "timeout")]
        if not left or time.monotonic() > until:
            return known
        if not found:
            return [_unmeasured(point, comparison.verdict, comparison.reason) for point in points]
        # The last one took the process with it, and stands for itself alone.
        return [*known, *self._compared(purpose, left, source, reference, policy, processes, until)]


def _unanswered(trial: Trial) -> bool:
    return trial.verdict == "crash" and trial.detail.startswith("not run:")


def _untimed(point: Point, trial: Trial) -> Probe:
    detail = f"checked: {trial.detail}" if trial.checked and trial.verdict != "right" else trial.detail
    return _unmeasured(point, trial.verdict, detail)


def _unmeasured(point: Point, verdict: ProbeVerdict, detail: str) -> Probe:
    configuration = point.configuration
    return Probe(
        label=configuration.label,
        parameters=configuration.parameters,
        origin=configuration.origin,
        seed=configuration.seed,
        law=point.variation.law,
        axis=point.axis,
        beside=point.beside,
        verdict=verdict,
        detail=detail,
        interval=None,
        seconds=None,
        reference_seconds=None,
        work=None,
    )


def _timed(task: Task, point: Point, row: ConfigurationComparison) -> Probe:
    return replace(
        _unmeasured(point, row.verdict, row.reason),
        interval=row.interval,
        seconds=row.candidate.seconds if row.candidate else None,
        reference_seconds=row.reference.seconds if row.reference else None,
        work=work_of(task, point.configuration),
    )


def right(probe: Probe) -> bool:
    return probe.verdict == "right" or probe.verdict in COMPARED


def wrong(probe: Probe) -> bool:
    """The kernel's own doing: not right, and neither the machine's nor the reference's fault."""
    return not right(probe) and probe.verdict not in NOTHING_LEARNT


def together(probes: Sequence[Probe]) -> Interval | None:
    """The geometric mean of the ratios, None unless all of them are known."""
    intervals = [probe.interval for probe in probes if probe.interval is not None]
    return over_configurations(intervals) if len(intervals) == len(probes) else None


def by_label(probes: Sequence[Probe]) -> Mapping[str, Probe]:
    return {probe.label: probe for probe in probes}
