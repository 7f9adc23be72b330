"""How long a check and a compilation take, for every seed kernel: in one process, with a warm cache of headers.

Every sample compiles a program text of its own, so that none comes from the cache of images; the last figure does.
"""

from __future__ import annotations

import time
from typing import Any

from common import arguments, figure, report, samples
from kfp import Limits, check, machine
from kfp.compiling import compile_source
from kfp.sources import seed_source
from kfp.tasks import all_tasks, get_task
from kfp.tasks.base import Task

CHECK_TARGET_MS = 60.0
COMPILE_TARGET_MS = 150.0


def check_samples(task: Task, device: str, count: int) -> list[float]:
    source = seed_source(task)
    return samples(lambda: check(source, task=task, device=device), count)


def compile_samples(task: Task, device: str, count: int) -> list[float]:
    """From source text to a library that can be run, in a worker that is already there."""
    source = seed_source(task)
    target = machine.resolve(device)
    with machine.open_worker(target, Limits()) as worker:
        return samples(lambda: compile_source(worker, target, never_seen(source), math="fast"), count)


def never_seen(source: str) -> str:
    return f"{source}\nconstant ulong never_seen = {time.time_ns()}ul;\n"


def cached_samples(task: Task, device: str, count: int) -> list[float]:
    source = seed_source(task)
    target = machine.resolve(device)
    with machine.open_worker(target, Limits()) as worker:
        return samples(lambda: compile_source(worker, target, source, math="fast"), count)


def main() -> None:
    options = arguments(__doc__)
    figures: list[dict[str, Any]] = []
    for task in all_tasks():
        figures.append(
            figure(f"check {task.name}", check_samples(task, options.device, options.samples), CHECK_TARGET_MS)
        )
    for task in all_tasks():
        figures.append(
            figure(f"compile {task.name}", compile_samples(task, options.device, options.samples), COMPILE_TARGET_MS)
        )
    figures.append(
        figure("compile hmc again", cached_samples(get_task("hmc"), options.device, options.samples), COMPILE_TARGET_MS)
    )
    report(figures, options.json)


if __name__ == "__main__":
    main()
