"""E2's dynamic twin: which arms of a kernel ran at which configurations, counted by an instrumented build of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from kfp import _core, bridge, interface, machine
from kfp.auditing.program.counters import COUNTED, Counted, CountingProgram, reachable, with_counters
from kfp.auditing.program.translation import DEVICE, NoTranslation, Translation, translate
from kfp.auditing.program.wording import Wording, plain_name
from kfp.auditing.results import Arm, Coverage
from kfp.compiling import clipped, failure_reason
from kfp.errors import Error
from kfp.gating.trials import Bench
from kfp.limits import Limits
from kfp.running import faults_of, references
from kfp.sources import seed_source
from kfp.tasks.base import Configuration, Task

# Executions keep their buffers as long as their process.
_AT_ONCE = 16
_RESTARTS = 4


def coverage(
    bench: Bench, task: Task, source: str, configurations: Sequence[Configuration], *, seconds: float = 20.0
) -> Coverage:
    """Runs ``source`` at ``configurations`` on the ``cpu`` device, one thread after the other, and counts.

    ``counts`` of an arm lack the labels at which it could not be run, and those that were left when ``seconds`` were
    over. Raises nothing, whatever the kernel does: ``reason`` says why nothing was counted.
    """
    try:
        translation = translate(bench, source)
        problems = interface.problems(task, translation.kernels)
        if problems:
            return Coverage((), (), "; ".join(problems))
        counting = with_counters(translation.program)
        runs = _Runs(bench, task, translation, counting, time.monotonic() + seconds)
        runs.run(configurations)
    except NoTranslation as reason:
        return Coverage((), (), str(reason))
    except (_core.Error, Error) as error:
        return Coverage((), (), clipped(str(error)))
    if not runs.counts:
        return Coverage((), (), runs.reason or "no configuration could be run")
    kernels = tuple(kernel.name for kernel in translation.kernels)
    return Coverage(tuple(_arms(bench, task, translation, counting, runs)), kernels, "")


@dataclass
class _Runs:
    bench: Bench
    task: Task
    translation: Translation
    counting: CountingProgram
    until: float
    counts: dict[str, np.ndarray[tuple[int], np.dtype[np.uint64]]] = field(default_factory=dict)
    reason: str = ""

    def run(self, configurations: Sequence[Configuration]) -> None:
        left = list(configurations)
        restarts = 0
        while left and restarts <= _RESTARTS and time.monotonic() < self.until:
            done = self._in_one_process(left[:_AT_ONCE])
            restarts += done < min(_AT_ONCE, len(left))
            # The one that took its process down is left behind.
            left = left[max(done, 1) :]

    def _in_one_process(self, configurations: Sequence[Configuration]) -> int:
        done = 0
        with machine.open_worker(machine.resolve(DEVICE), self._limits()) as worker:
            library, report = worker.compile(
                self.translation.source,
                math=self.bench.math,
                checked=True,
                counting=self.counting.text,
                counters=self.counting.counters,
            )
            if not report.compile_ok:
                self.reason = "its counting build doesn't compile: " + "; ".join(
                    one.message for one in report.diagnostics if one.severity == "error"
                )
                return len(configurations)
            caps = {kernel.name: kernel.max_total_threads_per_threadgroup for kernel in self.translation.kernels}
            for configuration in configurations:
                if time.monotonic() > self.until:
                    self.reason = self.reason or "its counting build took all of the time"
                    return len(configurations)
                try:
                    self._one(worker, library, configuration, caps)
                except _core.WorkerFailure as failure:
                    self.reason = f"{configuration.label}: {failure_reason(failure)}"
                    return done + 1
                except (_core.Error, Error) as error:
                    self.reason = f"{configuration.label}: {clipped(str(error))}"
                done += 1
        return done

    def _limits(self) -> Limits:
        """Nothing may take longer than what is left of the time."""
        limits, left = self.bench.limits, max(1.0, self.until - time.monotonic())
        return replace(
            limits,
            compile_seconds=min(limits.compile_seconds, left),
            run_seconds=min(limits.run_seconds, left),
        )

    def _one(self, worker: _core.Worker, library: int, configuration: Configuration, caps: dict[str, int]) -> None:
        with faults_of(self.task, configuration):
            plan = self.task.plan(configuration, references.inputs(self.task, configuration), caps)
        # One host thread: nothing is counted twice or lost.
        execution = worker.prepare(library, bridge.plan(plan), threads=1)
        worker.take_counts(library)
        worker.run(execution)
        self.counts[configuration.label] = worker.take_counts(library)


def _arms(bench: Bench, task: Task, translation: Translation, counting: CountingProgram, runs: _Runs) -> Iterator[Arm]:
    known = _seed_conditions(bench, seed_source(task))
    homes = _kernels_of(translation)
    wordings = {name: Wording(function) for name, function in translation.program.functions.items()}
    for number, counted in enumerate(counting.counted):
        token = next(translation.map.frames(translation.program, counted.instruction.place), None)
        location = translation.map.location(token)
        if location is None:
            continue
        kernel = homes.get(counted.function, "")
        for offset, side in enumerate(counted.sides):
            text = _text(wordings[counted.function], counted, side)
            yield Arm(
                id=f"{kernel}/{COUNTED} {number}/{side}",
                kernel=kernel,
                location=location,
                first_line=None,
                condition=text,
                side=side,
                parameters=(),
                in_seed="…" not in text and text in known,
                accepts={},
                counts={label: int(found[counted.first + offset]) for label, found in runs.counts.items()},
            )


def _text(wording: Wording, counted: Counted, side: str) -> str:
    instruction = counted.instruction
    if counted.kind == "comparison":
        return wording.condition(instruction.name, side == "true")
    if counted.kind == "choice":
        return wording.condition(instruction.operands[0], side == "true")
    if counted.kind == "switch":
        subject = wording.value(instruction.operands[0])
        return f"{subject} is none of its cases" if side == "default" else f"{subject} == {side.removeprefix('case ')}"
    return f"{plain_name(instruction.operands[0])}[{wording.value(instruction.operands[-1])}], {side}"


def _kernels_of(translation: Translation) -> dict[str, str]:
    """By function, the first kernel that may call it."""
    found: dict[str, str] = {}
    for number, kernel in enumerate(translation.kernels):
        for function in reachable(translation.program, f"__kfp_thread_{number}"):
            found.setdefault(function, kernel.name)
    return found


@lru_cache(maxsize=64)
def _seed_conditions(bench: Bench, source: str) -> frozenset[str]:
    try:
        seed = translate(bench, source)
    except NoTranslation:
        return frozenset()
    wordings = {name: Wording(function) for name, function in seed.program.functions.items()}
    return frozenset(
        _text(wordings[counted.function], counted, side)
        for counted in with_counters(seed.program).counted
        for side in counted.sides
    )
