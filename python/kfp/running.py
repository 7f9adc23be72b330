"""One configuration of one compiled kernel: reference, run, check, time, share of the ceiling."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from kfp import _core, bridge
from kfp.compiling import clipped, failure_reason
from kfp.errors import Error, PlanError, TaskError
from kfp.measuring import ClockFault, Measurement, measure
from kfp.plan import Plan
from kfp.results import Ceilings, ConfigurationResult, KernelSignature, Verdict
from kfp.scoring import SUSPECT_SHARE, UNITS, binding_bound
from kfp.tasks.base import Array, Arrays, Check, Configuration, Task
from kfp.tasks.cache import ReferenceCache

Stage: TypeAlias = Literal["reference", "run", "check", "time"]

# Small enough to leave room for the largest configuration, which is never kept.
references = ReferenceCache(128 << 20)

# In checked mode: different permutations of threads and threadgroups, and both layouts of the guard pages.
ORDER_SEEDS = (1, 2)


@dataclass(frozen=True)
class ConfigurationRun:
    result: ConfigurationResult
    verdict: Verdict


def run_configuration(
    worker: _core.Worker,
    library: int,
    kernels: Sequence[KernelSignature],
    task: Task,
    configuration: Configuration,
    ceilings: Ceilings | None,
    *,
    checked: bool,
    progress: Callable[[Stage], None],
) -> ConfigurationRun:
    """Without ``ceilings`` nothing is timed. Whatever the kernel does is a verdict; a faulty task raises."""
    progress("reference")
    caps = {kernel.name: kernel.max_total_threads_per_threadgroup for kernel in kernels}
    with faults_of(task, configuration):
        inputs, expected = references.get(task, configuration)
    run = _Run(worker, library, task, configuration, inputs, expected, progress)
    try:
        plan = run.plan(caps)
        if checked:
            return run.checked(plan)
        return run.timed(plan, ceilings)
    except _Refused as refusal:
        return run.negative("pipeline error", str(refusal))
    except _core.WorkerFailure as failure:
        return run.negative(failure.kind, failure_reason(failure))
    except (ClockFault, _core.Error) as fault:
        return run.negative("protocol", clipped(str(fault)))


class _Refused(Exception):
    """No pipeline for this configuration, or none of the size that its geometry needs."""


@contextmanager
def faults_of(task: Task, configuration: Configuration) -> Iterator[None]:
    """What goes wrong in a task's own code is the task's error, named as such."""
    try:
        # A candidate's NaN or infinity is the check's business, not worth a warning.
        with np.errstate(all="ignore"):
            yield
    except Error:
        raise
    except Exception as error:
        where = f"task {task.name!r}, configuration {configuration.label!r}"
        raise TaskError(f"{where}: {type(error).__name__}: {error}") from error


@dataclass(frozen=True)
class _Run:
    worker: _core.Worker
    library: int
    task: Task
    configuration: Configuration
    inputs: Arrays
    expected: Arrays
    progress: Callable[[Stage], None]

    def plan(self, caps: Mapping[str, int]) -> Plan:
        with faults_of(self.task, self.configuration):
            try:
                return self.task.plan(self.configuration, self.inputs, caps)
            except PlanError as error:
                raise _Refused(str(error)) from error

    def timed(self, plan: Plan, ceilings: Ceilings | None) -> ConfigurationRun:
        execution = self._prepare(plan)
        self.progress("run")
        first = self.worker.run(execution)
        check, bits = self._check(execution, plan)
        if not check.correct:
            return self._checked_result(check, "wrong", why(check))
        if ceilings is None:
            return self._checked_result(check, "right", check.detail)
        self.progress("time")
        measurement = measure(self.worker, execution, first.device_seconds)
        if measurement.timing.repeats > 1:
            self.worker.run(execution)
        later = self._check_again(execution, plan, bits)
        if later is not None and not later.correct:
            return self._checked_result(later, "wrong", f"right when run first, wrong when timed: {why(later)}")
        return self._timed_result(check, measurement, ceilings)

    def checked(self, plan: Plan) -> ConfigurationRun:
        outcomes: list[tuple[Check, bytes]] = []
        for seed in ORDER_SEEDS:
            execution = self._prepare(plan, checked=True, order_seed=seed)
            self.progress("run")
            self.worker.run(execution)
            check, bits = self._check(execution, plan)
            outcomes.append((check, bits))
            self.worker.run(execution)
            if digest_of(bridge.read_outputs(self.worker, execution, plan)) != bits:
                detail = "two runs in the same order give different bits: it reads memory that nothing has written"
                return self._checked_result(check, "wrong", detail)
        right = [check.correct for check, _ in outcomes]
        if not all(right):
            check = outcomes[right.index(False)][0]
            race = "right or wrong by the order of its threads, a race: " if any(right) else ""
            return self._checked_result(check, "wrong", race + why(check))
        check, bits = outcomes[0]
        same = all(other == bits for _, other in outcomes)
        flags = () if same else ("its bits depend on the order of its threads, within the tolerance",)
        return self._checked_result(check, "right", check.detail, flags)

    def negative(self, verdict: Verdict, detail: str) -> ConfigurationRun:
        return ConfigurationRun(self._result(False, "", None, None, detail), verdict)

    def _prepare(self, plan: Plan, *, checked: bool = False, order_seed: int = 0) -> int:
        try:
            native_plan = bridge.plan(plan)
            # One host thread makes a checked run repeatable to the bit.
            return self.worker.prepare(
                self.library, native_plan, checked=checked, order_seed=order_seed, threads=1 if checked else 0
            )
        except _core.PipelineError as error:
            raise _Refused(str(error)) from error
        except (_core.PlanError, PlanError) as error:
            where = f"task {self.task.name!r}, configuration {self.configuration.label!r}"
            raise TaskError(f"{where}: {error}") from error

    def _check(self, execution: int, plan: Plan) -> tuple[Check, bytes]:
        self.progress("check")
        outputs = bridge.read_outputs(self.worker, execution, plan)
        with faults_of(self.task, self.configuration):
            return self.task.check(self.configuration, self.inputs, outputs, self.expected), digest_of(outputs)

    def _check_again(self, execution: int, plan: Plan, known_right: bytes) -> Check | None:
        """The check of a later run, None where its bits are those of the run that was found right."""
        if digest_of(bridge.read_outputs(self.worker, execution, plan)) == known_right:
            return None
        return self._check(execution, plan)[0]

    def _checked_result(
        self, check: Check, verdict: Verdict, detail: str, flags: tuple[str, ...] = ()
    ) -> ConfigurationRun:
        correct = verdict == "right"
        return ConfigurationRun(
            self._result(correct, check.metric, check.error, check.tolerance, detail, flags=flags), verdict
        )

    def _timed_result(self, check: Check, measurement: Measurement, ceilings: Ceilings) -> ConfigurationRun:
        with faults_of(self.task, self.configuration):
            demands = self.task.demands(self.configuration, self.expected)
        flags = list(measurement.flags)
        row = replace(
            self._result(True, check.metric, check.error, check.tolerance, check.detail), timing=measurement.timing
        )
        bound = binding_bound(demands, ceilings)
        if bound is None:
            flags += [f"no ceiling: {problem}" for problem in ceilings.invalid]
        else:
            share = bound.seconds / measurement.timing.seconds
            if share > SUSPECT_SHARE:
                flags.append(
                    f"suspect: {100 * share:.0f} % of the measured ceiling; the data may fit into a cache, or the "
                    "time is not that of the whole work"
                )
            row = replace(
                row,
                unit=UNITS[bound.demand.resource],
                achieved=bound.demand.amount / measurement.timing.seconds / 1e9,
                ceiling=bound.ceiling.per_second / 1e9,
                ceiling_source=f"{bound.ceiling.resource}, {bound.ceiling.source}",
                fraction=share,
            )
        return ConfigurationRun(replace(row, flags=tuple(flags)), "right")

    def _result(
        self,
        correct: bool,
        metric: str,
        error: float | None,
        tolerance: float | None,
        detail: str,
        flags: tuple[str, ...] = (),
    ) -> ConfigurationResult:
        return ConfigurationResult(
            label=self.configuration.label,
            parameters=self.configuration.parameters,
            origin=self.configuration.origin,
            seed=self.configuration.seed,
            correct=correct,
            metric=metric,
            error=error,
            tolerance=tolerance,
            detail=detail,
            timing=None,
            unit=self.task.unit,
            achieved=None,
            ceiling=None,
            ceiling_source="",
            fraction=None,
            flags=flags,
        )


def why(check: Check) -> str:
    return check.detail or f"{check.metric} is {check.error:.4g}, the tolerance is {check.tolerance:.4g}"


def digest_of(outputs: Mapping[str, Array]) -> bytes:
    """Stands for the bits of the outputs, so that they needn't be kept."""
    digest = hashlib.blake2b(digest_size=32)
    for name in sorted(outputs):
        digest.update(np.ascontiguousarray(outputs[name]).view(np.uint8).data)
    return digest.digest()
