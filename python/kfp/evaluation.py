"""The main job: a kernel goes in, a verdict comes out."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

from kfp import _core, interface, machine
from kfp.ceilings import ceilings
from kfp.compiling import Compilation, compile_source
from kfp.errors import UsageError
from kfp.limits import Limits
from kfp.progress import OnProgress, Progress, silent
from kfp.results import Ceilings, ConfigurationResult, Device, Evaluation, Math, Verdict
from kfp.running import ConfigurationRun, references, run_configuration
from kfp.scoring import score
from kfp.sources import seed_source, source_hash, source_text
from kfp.tasks import get_task
from kfp.tasks.base import Configuration, Scale, Task


def evaluate(
    task: str | Task,
    source: str | os.PathLike[str] | None = None,
    *,
    device: str = "auto",
    scale: Scale = "full",
    seed: int = 0,
    math: Math = "fast",
    checked: bool = False,
    limits: Limits | None = None,
    configurations: Sequence[Configuration] | None = None,
    stop_early: bool = False,
    progress: OnProgress = silent,
) -> Evaluation:
    """Compiles ``source``, runs it on ``device`` in a process of its own, checks, times and scores it.

    ``task`` is a name, a ``path/to/file.py:ClassName`` or a task; ``source`` is the kernel's text, a path to read, or
    None for the task's seed kernel. ``seed`` feeds the inputs. ``checked`` looks for races, uninitialised memory and
    accesses out of bounds instead of timing. ``configurations`` replaces the in-distribution ones of the task;
    ``stop_early`` leaves out those after the first that is not right.

    Whatever the kernel does, the answer is an ``Evaluation``. Raises ``kfp.Error`` when the call itself is wrong or
    this machine lacks the device.
    """
    require_choice("scale", scale, get_args(Scale))
    require_choice("math", math, get_args(Math))
    wanted = get_task(task)
    points = wanted.configurations(scale) if configurations is None else tuple(configurations)
    if not points:
        raise UsageError("configurations: expected at least one, got none")
    if configurations is None:
        points = tuple(replace(point, seed=seed) for point in points)
    request = _Request(
        task=wanted,
        source=seed_source(wanted) if source is None else source_text(source),
        device=machine.resolve(device),
        scale=scale,
        seed=seed,
        math=math,
        checked=checked,
        limits=limits or Limits(),
        configurations=points,
        stop_early=stop_early,
        progress=progress,
    )
    with machine.open_worker(request.device, request.limits) as worker:
        return _evaluate(request, worker)


def require_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"{name}: expected one of {', '.join(map(repr, allowed))}, got {value!r}")


@dataclass(frozen=True)
class _Request:
    task: Task
    source: str
    device: Device
    scale: Scale
    seed: int
    math: Math
    checked: bool
    limits: Limits
    configurations: tuple[Configuration, ...]
    stop_early: bool
    progress: OnProgress

    def result(
        self,
        compilation: Compilation,
        *,
        pipeline_ok: bool,
        verdict: Verdict,
        reason: str,
        configurations: tuple[ConfigurationResult, ...] = (),
        total: float | None = 0.0,
    ) -> Evaluation:
        return Evaluation(
            task=self.task.name,
            device=self.device,
            scale=self.scale,
            seed=self.seed,
            math=self.math,
            checked=self.checked,
            compile_ok=compilation.ok,
            pipeline_ok=pipeline_ok,
            correct=verdict == "right",
            verdict=verdict,
            score=total,
            reason=reason,
            diagnostics=compilation.diagnostics,
            configurations=configurations,
            source_sha256=source_hash(self.source),
            kfp_version=_core.__version__,
        )


def _evaluate(request: _Request, worker: _core.Worker) -> Evaluation:
    request.progress(Progress("compile"))
    prefetch = _prefetch_reference(request)
    compilation = compile_source(worker, request.device, request.source, math=request.math, checked=request.checked)
    if not compilation.ok:
        return request.result(compilation, pipeline_ok=False, verdict=compilation.verdict, reason=compilation.reason)
    problems = interface.problems(request.task, compilation.kernels)
    if problems:
        return request.result(compilation, pipeline_ok=False, verdict="pipeline error", reason="; ".join(problems))
    limits = None if request.checked else ceilings(request.device, lambda: request.progress(Progress("ceilings")))
    prefetch.join()
    runs = _run_all(request, worker, compilation, limits)
    return _conclude(request, compilation, runs)


def _prefetch_reference(request: _Request) -> threading.Thread:
    """The first reference is computed while the compiler works; if that fails, the next evaluation has it ready."""

    def compute() -> None:
        try:
            references.get(request.task, request.configurations[0])
        except Exception:
            # Found again, and reported, where the reference is needed.
            return

    thread = threading.Thread(target=compute, daemon=True, name="kfp-reference")
    thread.start()
    return thread


def _run_all(
    request: _Request, worker: _core.Worker, compilation: Compilation, limits: Ceilings | None
) -> list[ConfigurationRun]:
    runs: list[ConfigurationRun] = []
    total = len(request.configurations)
    assert compilation.library is not None
    for number, configuration in enumerate(request.configurations, start=1):
        runs.append(
            run_configuration(
                worker,
                compilation.library,
                compilation.kernels,
                request.task,
                configuration,
                limits,
                checked=request.checked,
                progress=lambda stage, c=configuration, n=number: request.progress(  # type: ignore[misc]
                    Progress(stage, c.label, n, total)
                ),
            )
        )
        if worker.closed or (request.stop_early and runs[-1].verdict != "right"):
            break
    return runs


def _conclude(request: _Request, compilation: Compilation, runs: list[ConfigurationRun]) -> Evaluation:
    rows = tuple(run.result for run in runs)
    pipeline_ok = not any(run.verdict == "pipeline error" for run in runs)
    failed = next((run for run in runs if run.verdict != "right"), None)
    if failed is None:
        what = "checked mode: no race, no access out of bounds; not timed" if request.checked else ""
        if not request.checked and any(row.fraction is None for row in rows):
            what = "no score: the ceilings of this device are not known"
        return request.result(
            compilation,
            pipeline_ok=True,
            verdict="right",
            reason=what,
            configurations=rows,
            total=None if request.checked else score(rows),
        )
    reason = f"{failed.result.label}: {failed.result.detail}"
    left = len(request.configurations) - len(runs)
    if left:
        reason += f"; {left} configuration{'' if left == 1 else 's'} not run"
    return request.result(
        compilation, pipeline_ok=pipeline_ok, verdict=failed.verdict, reason=reason, configurations=rows
    )
