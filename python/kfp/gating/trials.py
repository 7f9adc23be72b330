"""The untimed draws: each run for correctness alone, some of them in checked mode as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kfp import interface, machine
from kfp.compiling import Compilation, compile_source
from kfp.errors import PlanError
from kfp.gating.draws import Drawn
from kfp.gating.results import Trial
from kfp.gating.variations import varied
from kfp.limits import Limits
from kfp.progress import OnProgress, Progress
from kfp.results import Device, Math, Verdict
from kfp.running import references, run_configuration
from kfp.tasks.base import Task

_NO_ANSWER: tuple[Verdict, str] = ("crash", "not run: the process had been lost before")


@dataclass(frozen=True)
class Bench:
    """Where kernels are run, and how they are compiled."""

    device: Device
    math: Math
    limits: Limits


def try_all(bench: Bench, task: Task, source: str, draws: Sequence[Drawn], progress: OnProgress) -> tuple[Trial, ...]:
    """One trial per draw, and a further one for each that is also run in checked mode."""
    checked = [drawn for drawn in draws if drawn.checked]
    total = len(draws) + len(checked)

    def teller(before: int) -> Callable[[int, Drawn], None]:
        return lambda index, drawn: progress(Progress("run", drawn.configuration.label, before + index + 1, total))

    plain = _in_one_process(bench, task, source, draws, False, teller(0))
    return (*plain, *_in_one_process(bench, task, source, checked, True, teller(len(draws))))


def _in_one_process(
    bench: Bench,
    task: Task,
    source: str,
    draws: Sequence[Drawn],
    checked: bool,
    tell: Callable[[int, Drawn], None],
) -> list[Trial]:
    other = varied(task, {drawn.configuration: drawn.variation for drawn in draws})
    found: list[Trial] = []
    with machine.open_worker(bench.device, bench.limits) as worker:
        compilation = compile_source(worker, bench.device, source, math=bench.math, checked=checked)
        problems = interface.problems(task, compilation.kernels) if compilation.ok else ()
        if not compilation.ok or problems:
            verdict: Verdict = "pipeline error" if problems else compilation.verdict
            reason = "; ".join(problems) or compilation.reason
            return [trial_of(drawn, checked, True, verdict, reason) for drawn in draws]
        assert compilation.library is not None
        for index, drawn in enumerate(draws):
            if worker.closed:
                found.append(trial_of(drawn, checked, False, *_NO_ANSWER))
                continue
            if drawn.variation.narrowing and not _can_be_narrowed(task, other, drawn, bench, compilation):
                continue
            run = run_configuration(
                worker,
                compilation.library,
                compilation.kernels,
                other,
                drawn.configuration,
                None,
                checked=checked,
                progress=lambda stage, i=index, d=drawn: tell(i, d),  # type: ignore[misc]
            )
            found.append(trial_of(drawn, checked, not drawn.variation.narrowing, run.verdict, run.result.detail))
    return found


def _can_be_narrowed(task: Task, other: Task, drawn: Drawn, bench: Bench, compilation: Compilation) -> bool:
    """Where the contract fixes the threadgroup, or the kernel's own cap does, there is no other shape to try."""
    caps = {kernel.name: kernel.max_total_threads_per_threadgroup for kernel in compilation.kernels}
    if any(cap < bench.device.max_threads_per_threadgroup for cap in caps.values()):
        return False
    inputs, _ = references.get(other, drawn.configuration)
    try:
        narrow, usual = (version.plan(drawn.configuration, inputs, caps) for version in (other, task))
    except PlanError:
        return False
    pairs = zip(narrow.dispatches, usual.dispatches, strict=True)
    return any(one.threadgroup != two.threadgroup for one, two in pairs)


def trial_of(drawn: Drawn, checked: bool, counts: bool, verdict: Verdict, detail: str) -> Trial:
    """The record of one run of ``drawn``."""
    configuration, variation = drawn.configuration, drawn.variation
    return Trial(
        label=configuration.label,
        parameters=configuration.parameters,
        seed=configuration.seed,
        law=variation.law,
        padding=variation.padding,
        narrowing=variation.narrowing,
        checked=checked,
        counts=counts,
        verdict=verdict,
        detail=detail,
    )
