"""How long checks and compilations take, and from source text to a first result, against PoCL's build and first launch.

    python bench/compile.py [--task NAME] [--json]

Every sample compiles a program text of its own, so that none comes from either side's cache; one figure shows kfp's
cache. kfp's headers are precompiled, as they are from the first compilation on; a worker, PoCL's context and its queue
are there before a sample begins. From there to a first result: compile, make pipelines and buffers, run the plan of the
task's smallest configuration, read its outputs, which the task's check judges outside of the time.

A sample is the first compilation of a process, as for whoever runs a kernel from a command line. A second table has the
same within one process, where PoCL's compiler stays loaded from sample to sample; kfp starts one for every kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from common import figure, report, samples
from first_result import in_fresh_process, on_kfp, on_pocl
from kfp import Limits, check, machine
from kfp.compiling import compile_source
from kfp.sources import seed_source
from kfp.tasks import all_tasks, get_task
from kfp.tasks.base import Task
from peers import Bench, Row, cost, geometric_mean, interval_json, open_bench, parser
from pocl import never_seen

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


def cached_samples(task: Task, device: str, count: int) -> list[float]:
    source = seed_source(task)
    target = machine.resolve(device)
    with machine.open_worker(target, Limits()) as worker:
        return samples(lambda: compile_source(worker, target, source, math="fast"), count)


def own_figures(tasks: list[Task], device: str, count: int) -> list[dict[str, Any]]:
    figures = [figure(f"check {task.name}", check_samples(task, device, count), CHECK_TARGET_MS) for task in tasks]
    for task in tasks:
        figures.append(figure(f"compile {task.name}", compile_samples(task, device, count), COMPILE_TARGET_MS))
    hmc = get_task("hmc")
    return [*figures, figure("compile hmc again", cached_samples(hmc, device, count), COMPILE_TARGET_MS)]


def first_results(task: Task, bench: Bench) -> tuple[Row, Row]:
    """In fresh processes, and in this one, where PoCL has everything loaded."""
    pocl, device, cores, pairs = bench.pocl, bench.options.device, bench.options.cores, bench.options.pairs

    def fresh(side: str) -> Callable[[], float]:
        return lambda: in_fresh_process(side, task, device, cores)

    return (
        cost(f"{task.name}, first result", fresh("kfp"), fresh("pocl") if pocl else None, pairs),
        cost(
            f"{task.name}, PoCL loaded",
            lambda: on_kfp(task, device, cores),
            (lambda: on_pocl(task, pocl)) if pocl else None,
            pairs,
        ),
    )


def main() -> None:
    options = parser(__doc__, pairs=6)
    options.add_argument("--samples", type=int, default=15, help="calls per figure (default 15); 0 for no figures")
    names = [task.name for task in all_tasks()]
    options.add_argument("--task", action="append", choices=names, help="these tasks only")
    bench = open_bench(options.parse_args())
    chosen = [task for task in all_tasks() if bench.options.task is None or task.name in bench.options.task]
    pairs = [first_results(task, bench) for task in chosen if task.suite == "sci"]
    rows, loaded = [row for row, _ in pairs], [row for _, row in pairs]
    count = bench.options.samples
    figures = own_figures(chosen, bench.options.device, count) if count else []
    if not bench.options.json:
        bench.report("kfp's time over a loaded PoCL's", loaded, geometric_mean(loaded))
        print()
    again = {**interval_json(geometric_mean(loaded)), "rows": [row.to_json() for row in loaded]}
    bench.report(
        "kfp's time over PoCL's, fresh processes", rows, geometric_mean(rows), pocl_loaded=again, figures=figures
    )
    if figures and not bench.options.json:
        print()
        report(figures, as_json=False)


if __name__ == "__main__":
    main()
