"""One configuration of two compiled kernels in one worker: both checked, then measured in pairs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from kfp import _core, bridge, toolchain
from kfp.compiling import Compilation, clipped, failure_reason
from kfp.errors import Error, PlanError, TaskError
from kfp.plan import Dispatch, Plan, blank, linear
from kfp.results import Ceilings
from kfp.running import digest_of, faults_of, references, why
from kfp.scoring import SUSPECT_SHARE, binding_bound
from kfp.tasks.base import Arrays, Check, Configuration, Task
from kfp.timing.looks import SEARCH, Policy, aa_floor
from kfp.timing.measuring import Executions, PairMeasurement, Unmeasurable, measure_pair
from kfp.timing.results import ArmTiming, Cache, ComparisonVerdict, ConfigurationComparison, Series

Stage: TypeAlias = Literal["reference", "run", "check", "time"]

SENTINEL_THREADS = 4096
EMPTY_SAMPLES = 15
# A kernel that is right by luck is found out by running it again, as far as that costs little.
VERIFYING_RUNS = 5
VERIFYING_SECONDS = 0.05
# Of each arm, in the shortest measurement.
FEWEST_RUNS = 5
NO_TIME = "no time is left to measure it in"


@dataclass(frozen=True)
class Instruments:
    """Our own kernels in a worker, compiled before its first run: the sentinel and the empty dispatch."""

    library: int


def compile_instruments(worker: _core.Worker) -> Instruments:
    """To be called before anything is prepared in ``worker``, which ends compiling there."""
    source = (toolchain.shaders() / "probes" / "sentinel.metal").read_text(encoding="utf-8")
    library, report = worker.compile(source)
    if not report.compile_ok:
        raise Error(f"probe sentinel.metal: {bridge.diagnostics(report)[0]}")
    return Instruments(library)


def compare_compiled(
    worker: _core.Worker,
    instruments: Instruments,
    task: Task,
    configurations: Sequence[Configuration],
    reference: Compilation,
    candidate: Compilation,
    *,
    policy: Policy = SEARCH,
    cache: Cache = "warm",
    seed: int = 0,
    ceilings: Ceilings | None = None,
    until: float = math.inf,
    progress: Callable[[Stage, Configuration], None] = lambda stage, configuration: None,
) -> Iterator[ConfigurationComparison]:
    """Compares two kernels that ``worker`` has compiled, one configuration after the other.

    A caller that has seen enough (a wrong kernel, a clear loser) stops iterating; a lost worker ends it. ``seed`` is
    that of the orders in which the arms are sampled. With ``ceilings`` times that beat them are flagged. After
    ``until``, by the monotonic clock, no configuration is begun, and before it none is measured that would take longer.
    Raises ``kfp.TaskError`` for a fault of the task's.
    """
    bench = Bench(worker, instruments)
    for number, configuration in enumerate(configurations):
        if time.monotonic() > until:
            return
        order_seed = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        pair = _Pair(
            bench, task, configuration, reference, candidate, policy, cache, order_seed, ceilings, until, progress
        )
        yield pair.compare()
        if worker.closed:
            return


class Bench:
    """The instruments of one worker, prepared when first used, by which time everything has been compiled."""

    def __init__(self, worker: _core.Worker, instruments: Instruments) -> None:
        self.worker = worker
        self._library = instruments.library
        self._sentinel: int | None = None
        self._empty_seconds = 0.0

    @property
    def sentinel(self) -> int:
        if self._sentinel is None:
            grid, threadgroup = linear(SENTINEL_THREADS, 64)
            sums = blank("sums", (SENTINEL_THREADS,), np.float32)
            self._sentinel = self._prepare(Plan((sums,), (Dispatch("sentinel", {0: "sums"}, grid, threadgroup),), {}))
        return self._sentinel

    @property
    def empty_dispatch_seconds(self) -> float:
        if not self._empty_seconds:
            empty = self._prepare(Plan((), (Dispatch("nothing", {}, (1, 1, 1), (1, 1, 1)),), {}))
            samples, _ = self.worker.sample([empty], [0] * EMPTY_SAMPLES, 1)
            self._empty_seconds = float(np.median(samples))
        return self._empty_seconds

    def _prepare(self, plan: Plan) -> int:
        return self.worker.prepare(self._library, bridge.plan(plan))


class _Failed(Exception):
    """One of the two can't be compared."""

    def __init__(self, verdict: ComparisonVerdict, reason: str) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.reason = reason


@dataclass
class _Arm:
    """A kernel that was right when run first, and the bits that it gave then."""

    execution: int
    plan: Plan
    bits: bytes
    seconds: float = 0.0


@dataclass(frozen=True)
class _Pair:
    bench: Bench
    task: Task
    configuration: Configuration
    reference: Compilation
    candidate: Compilation
    policy: Policy
    cache: Cache
    order_seed: int
    ceilings: Ceilings | None
    until: float
    progress: Callable[[Stage, Configuration], None]

    def compare(self) -> ConfigurationComparison:
        worker = self.bench.worker
        self._tell("reference")
        with faults_of(self.task, self.configuration):
            inputs, expected = references.get(self.task, self.configuration)
        try:
            try:
                self._tell("run")
                one = self._right_arm(self.reference, inputs, expected)
            except _Failed as failure:
                raise _Failed("reference", f"the reference: {failure.verdict}: {failure.reason}") from None
            two = self._right_arm(self.candidate, inputs, expected, beside=one)
            if time.monotonic() + FEWEST_RUNS * (one.seconds + two.seconds) > self.until:
                raise _Failed("unmeasurable", NO_TIME)
            self._tell("time")
            empty = self.bench.empty_dispatch_seconds
            executions = Executions(one.execution, two.execution, self.bench.sentinel, self.cache == "cold")
            measured = measure_pair(worker, executions, self.policy, self.order_seed)
            self._tell("check")
            self._still_right(two, inputs, expected)
        except _Failed as failure:
            return self._without_ratio(failure.verdict, failure.reason)
        except Unmeasurable as fault:
            return self._without_ratio(fault.verdict, fault.reason)
        except _core.WorkerFailure as failure:
            return self._without_ratio(failure.kind, failure_reason(failure))
        except _core.Error as error:
            return self._without_ratio("protocol", clipped(str(error)))
        return self._compared(measured, empty, expected)

    def _tell(self, stage: Stage) -> None:
        self.progress(stage, self.configuration)

    def _right_arm(self, kernel: Compilation, inputs: Arrays, expected: Arrays, beside: _Arm | None = None) -> _Arm:
        """Over the buffers of ``beside`` if they are the same, so that no arm profits from where its own lie."""
        worker = self.bench.worker
        caps = {signature.name: signature.max_total_threads_per_threadgroup for signature in kernel.kernels}
        with faults_of(self.task, self.configuration):
            try:
                plan = self.task.plan(self.configuration, inputs, caps)
            except PlanError as error:
                raise _Failed("pipeline error", str(error)) from error
        assert kernel.library is not None
        try:
            shares = beside.execution if beside is not None and _same_buffers(plan, beside.plan) else None
            execution = worker.prepare(
                kernel.library,
                bridge.plan(plan),
                threads=self.policy.threads,
                cold=self.cache == "cold",
                shares=shares,
            )
            arm = _Arm(execution, plan, b"")
        except _core.PipelineError as error:
            raise _Failed("pipeline error", str(error)) from error
        except (_core.PlanError, PlanError) as error:
            where = f"task {self.task.name!r}, configuration {self.configuration.label!r}"
            raise TaskError(f"{where}: {error}") from error
        first = worker.run(arm.execution)
        arm.seconds = first.wall_seconds
        check, arm.bits = self._check(arm, inputs, expected)
        if not check.correct:
            raise _Failed("wrong", why(check))
        again = min(VERIFYING_RUNS - 1, int(VERIFYING_SECONDS / max(first.wall_seconds, 1e-6)))
        for _ in range(again):
            self._still_right(arm, inputs, expected)
        return arm

    def _still_right(self, arm: _Arm, inputs: Arrays, expected: Arrays) -> None:
        self.bench.worker.run(arm.execution)
        check, bits = self._check(arm, inputs, expected, arm.bits)
        arm.bits = bits
        if not check.correct:
            raise _Failed("wrong", f"right when run first, wrong in a later run: {why(check)}")

    def _check(self, arm: _Arm, inputs: Arrays, expected: Arrays, known_right: bytes = b"") -> tuple[Check, bytes]:
        outputs = bridge.read_outputs(self.bench.worker, arm.execution, arm.plan)
        bits = digest_of(outputs)
        if bits == known_right:
            return Check(True, 0.0, 0.0, ""), bits
        with faults_of(self.task, self.configuration):
            return self.task.check(self.configuration, inputs, outputs, expected), bits

    def _compared(self, measured: PairMeasurement, empty: float, expected: Arrays) -> ConfigurationComparison:
        flags = list(measured.flags)
        reference, candidate = arm_timing(measured.reference), arm_timing(measured.candidate)
        if candidate.seconds <= 1.5 * empty < reference.seconds / 4:
            flags.append("suspect: the candidate takes no longer than an empty dispatch")
        if self.ceilings is not None:
            with faults_of(self.task, self.configuration):
                bound = binding_bound(self.task.demands(self.configuration, expected), self.ceilings)
            if bound is not None and bound.seconds > SUSPECT_SHARE * candidate.seconds:
                share = 100 * bound.seconds / candidate.seconds
                flags.append(f"suspect: the candidate reaches {share:.0f} % of the measured ceiling")
        series = Series(
            interval=measured.interval,
            pairs=measured.pairs,
            drops=measured.drops,
            looks=measured.looks,
            repeats=measured.repeats,
            reference=tuple(map(float, measured.reference)),
            candidate=tuple(map(float, measured.candidate)),
            order=measured.order,
            order_seed=self.order_seed,
            sentinels=tuple(map(float, measured.sentinels)),
            warm_up=tuple(map(float, measured.warm_up)),
            same_arm_ratio=measured.same_arm_ratio,
            empty_dispatch_seconds=empty,
            seconds=measured.seconds,
        )
        return replace(
            self._without_ratio(measured.verdict, measured.reason),
            interval=measured.interval,
            margin=measured.margin,
            aa_floor=aa_floor(measured.same_arm_ratio),
            pairs=measured.pairs,
            drops=measured.drops,
            reference=reference,
            candidate=candidate,
            processes=(series,),
            flags=tuple(flags),
        )

    def _without_ratio(self, verdict: ComparisonVerdict, reason: str) -> ConfigurationComparison:
        return ConfigurationComparison(
            label=self.configuration.label,
            parameters=self.configuration.parameters,
            origin=self.configuration.origin,
            seed=self.configuration.seed,
            verdict=verdict,
            reason=reason,
            interval=None,
            margin=self.policy.margin,
            aa_floor=None,
            pairs=0,
            drops=0,
            reference=None,
            candidate=None,
            processes=(),
            flags=(),
        )


def _same_buffers(one: Plan, other: Plan) -> bool:
    if len(one.buffers) != len(other.buffers):
        return False
    return all(
        (a.name, a.dtype, a.shape, a.role) == (b.name, b.dtype, b.shape, b.role)
        and (a.initial is b.initial or np.array_equal(np.asarray(a.initial), np.asarray(b.initial), equal_nan=True))
        for a, b in zip(one.buffers, other.buffers, strict=True)
    )


def arm_timing(samples: np.ndarray[tuple[int], np.dtype[np.float64]]) -> ArmTiming:
    lower, median, upper = (float(value) for value in np.percentile(samples, (25, 50, 75)))
    return ArmTiming(median, lower, upper)
