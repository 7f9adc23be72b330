"""``kfp check``: everything that can be said of a source without running it."""

from __future__ import annotations

import os

from kfp import _core, interface, machine
from kfp.compiling import Compilation, compile_source
from kfp.limits import Limits
from kfp.results import CheckReport, Math
from kfp.sources import source_hash, source_text
from kfp.tasks import get_task
from kfp.tasks.base import Task


def check(
    source: str | os.PathLike[str],
    *,
    task: str | Task | None = None,
    device: str = "auto",
    math: Math = "fast",
    limits: Limits | None = None,
) -> CheckReport:
    """Compiles ``source`` (text, or a path to read) and, with a ``task``, holds it against the task's interface."""
    text = source_text(source)
    target = machine.resolve(device)
    wanted = None if task is None else get_task(task)
    with machine.open_worker(target, limits or Limits()) as worker:
        compilation = compile_source(worker, target, text, math=math, check_only=True)
    problems = interface.problems(wanted, compilation.kernels) if wanted and compilation.ok else ()
    pipeline_ok, reason = _pipelines(compilation, wanted, problems)
    return CheckReport(
        device=target,
        task=None if wanted is None else wanted.name,
        math=math,
        compile_ok=compilation.ok,
        pipeline_ok=pipeline_ok,
        reason=reason,
        diagnostics=compilation.diagnostics,
        kernels=compilation.kernels,
        problems=problems,
        seconds=compilation.seconds,
        source_sha256=source_hash(text),
        kfp_version=_core.__version__,
    )


def _pipelines(compilation: Compilation, task: Task | None, problems: tuple[str, ...]) -> tuple[bool, str]:
    if not compilation.ok:
        return False, compilation.reason
    if task is not None:
        if problems:
            more = f" (the first of {len(problems)} problems)" if len(problems) > 1 else ""
            return False, problems[0] + more
        return True, f"it compiles and has the interface of {task.name}"
    if not compilation.kernels:
        return False, "the source defines no kernel"
    failed = [f"{kernel.name}: {kernel.pipeline_error}" for kernel in compilation.kernels if kernel.pipeline_error]
    if failed:
        return False, "; ".join(failed)
    count = len(compilation.kernels)
    return True, f"it compiles; {count} kernel{'' if count == 1 else 's'}"
