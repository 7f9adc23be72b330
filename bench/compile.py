"""How long checks and compilations take, and from source text to a first result, against PoCL's build and first launch.

    python bench/compile.py [--task NAME] [--json]

Every sample compiles a program text of its own, so that none comes from either side's cache; one figure shows kfp's
cache. kfp's headers are precompiled, as they are from the first compilation on; a worker, PoCL's context and its queue
are there before a sample begins. From there to a first result: compile, make pipelines and buffers, run the plan of the
task's smallest configuration, read its outputs, which the task's check judges outside of the time.
"""

from __future__ import annotations

import time
from typing import Any

from common import figure, report, samples
from kfp import Limits, bridge, check, machine
from kfp.compiling import compile_source
from kfp.results import Device
from kfp.running import references
from kfp.sources import seed_source
from kfp.tasks import all_tasks, get_task
from kfp.tasks.base import Task
from peers import Row, cost, geometric_mean, open_bench, parser
from pocl import Pocl, kernel_source, never_seen
from throughput import require_right

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


def first_result(task: Task, device: Device, pocl: Pocl | None, pairs: int, cores: int) -> Row:
    configuration = task.configurations("small")[0]
    inputs, expected = references.get(task, configuration)

    def ours() -> float:
        source = never_seen(seed_source(task))
        with machine.open_worker(device, Limits()) as worker:
            start = time.perf_counter()
            library, compiled = worker.compile(source)
            caps = {kernel.name: kernel.max_total_threads_per_threadgroup for kernel in compiled.kernels}
            plan = task.plan(configuration, inputs, caps)
            execution = worker.prepare(library, bridge.plan(plan), threads=cores)
            worker.run(execution)
            outputs = bridge.read_outputs(worker, execution, plan)
            seconds = time.perf_counter() - start
        require_right("kfp", task, configuration, inputs, outputs, expected)
        return seconds

    def theirs(pocl: Pocl) -> float:
        source = never_seen(kernel_source(task.name))
        start = time.perf_counter()
        program = pocl.build(source)
        plan = task.plan(configuration, inputs, {kernel.name: 1024 for kernel in task.kernels})
        execution = pocl.prepare(program, plan)
        execution.reset()
        execution.run()
        outputs = execution.outputs()
        seconds = time.perf_counter() - start
        require_right("PoCL", task, configuration, inputs, outputs, expected)
        return seconds

    return cost(f"{task.name}, first result", ours, (lambda: theirs(pocl)) if pocl else None, pairs)


def main() -> None:
    options = parser(__doc__, pairs=6)
    options.add_argument("--samples", type=int, default=15, help="calls per figure (default 15); 0 for no figures")
    names = [task.name for task in all_tasks()]
    options.add_argument("--task", action="append", choices=names, help="these tasks only")
    bench = open_bench(options.parse_args())
    chosen = [task for task in all_tasks() if bench.options.task is None or task.name in bench.options.task]
    device = machine.resolve(bench.options.device)
    rows = [
        first_result(task, device, bench.pocl, bench.options.pairs, bench.options.cores)
        for task in chosen
        if task.suite == "sci"
    ]
    count = bench.options.samples
    figures = own_figures(chosen, bench.options.device, count) if count else []
    bench.report("kfp's time over PoCL's, below 1 kfp is faster", rows, geometric_mean(rows), figures=figures)
    if figures and not bench.options.json:
        print()
        report(figures, as_json=False)


if __name__ == "__main__":
    main()
