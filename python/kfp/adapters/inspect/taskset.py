"""The tasks of the suites as one Inspect task: a sample per task, with the seed kernel to start from in its prompt."""

from __future__ import annotations

from collections.abc import Sequence

import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.solver import generate

from kfp.adapters.inspect.scoring import verdict
from kfp.adapters.shared.assessment import TIMEOUT, Assessor
from kfp.adapters.shared.briefing import RULES, contract
from kfp.errors import UsageError
from kfp.results import Math
from kfp.sources import seed_source
from kfp.tasks import all_tasks, get_task
from kfp.tasks.base import Scale

ANSWER = "Answer with one fenced code block that holds the whole program. Of several blocks the longest one counts."


@inspect_ai.task(name="kernels")  # type: ignore[untyped-decorator]
def kernels(
    suite: str = "all",
    tasks: str | Sequence[str] = (),
    scale: Scale = "full",
    device: str = "auto",
    seed: int = 0,
    math: Math = "fast",
    timeout: float = TIMEOUT,
) -> inspect_ai.Task:
    """Write a faster kernel, for each task of a suite.

    ``suite`` is ``sci``, ``zk`` or ``all``; ``tasks``, names or ``path/to/file.py:ClassName``, are taken instead if
    there are any. Any solver will do that ends in an answer with a code block. The scorer is ``verdict`` with the same
    options, and a log can be scored again. Nothing of a held-out configuration is in samples, scores or log.

    Raises ``kfp.Error`` for what can't work, before any model is asked.
    """
    names = [tasks] if isinstance(tasks, str) else list(tasks)
    wanted = names or _names(suite)
    for name in wanted:
        Assessor(name, device=device, scale=scale, seed=seed, math=math, timeout=timeout)
    return inspect_ai.Task(
        dataset=MemoryDataset([_sample(name, scale) for name in wanted], name="kfp"),
        solver=generate(),
        scorer=verdict(scale=scale, device=device, seed=seed, math=math, timeout=timeout),
    )


def _names(suite: str) -> list[str]:
    suites = sorted({task.suite for task in all_tasks()})
    if suite not in ("all", *suites):
        raise UsageError(f"suite: expected one of all, {', '.join(suites)}, got {suite!r}")
    return [task.name for task in all_tasks() if suite in ("all", task.suite)]


def _sample(name: str, scale: Scale) -> Sample:
    task = get_task(name)
    start = f"# The kernel to start from\n\n```metal\n{seed_source(task).strip()}\n```"
    return Sample(
        id=task.name,
        input=[
            ChatMessageSystem(content=f"{RULES}\n\n{ANSWER}"),
            ChatMessageUser(content=f"{contract(task, scale)}\n{start}\n\nWrite a faster kernel."),
        ],
        metadata={"task": name, "suite": task.suite, "regime": task.regime},
    )
