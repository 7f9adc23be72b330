"""How fast the seeds of suite sci run, against the same kernels in OpenCL C on PoCL.

    python bench/throughput.py [--task NAME] [--scale small] [--json]

Both sides run the task's own plan, with the same threadgroups, and the task's own check judges the outputs of both
before anything is timed. A sample is the device's time for some runs of the whole plan, back to back after a reset:
kfp's from the worker's clock, PoCL's from the first dispatch's start to the last one's end.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from kfp import Limits, _core, bridge, machine
from kfp.running import references, why
from kfp.sources import seed_source
from kfp.tasks import all_tasks
from kfp.tasks.base import Arrays, Configuration, Task
from kfp.timing.statistics import over_configurations
from peers import Bench, Row, bounds, geometric_mean, open_bench, parser, speed
from pocl import kernel_source

# The full configuration of each task that is timed beside its largest small one: the largest that takes less than about
# half a second on two cores; none of hmc's does.
FULL = {
    "saxpy": 2,
    "heat2d": 2,
    "wave3d": 1,
    "nbody": 2,
    "lbm": 2,
    "ising": 1,
    "lj": 2,
    "gradshaf": 2,
    "fft3d": 1,
    "morton": 2,
    "adi3d": 2,
}
# Long enough for either clock, and what makes a sample of short plans.
SAMPLE_SECONDS = 4e-3


def configurations(task: Task, scale: str | None) -> list[Configuration]:
    chosen = []
    if scale != "full":
        chosen.append(task.configurations("small")[-1])
    if scale != "small" and task.name in FULL:
        chosen.append(task.configurations("full")[FULL[task.name]])
    return chosen


def measure(bench: Bench, task: Task) -> list[Row]:
    device = machine.resolve(bench.options.device)
    rows = []
    with machine.open_worker(device, Limits()) as worker:
        library, report = worker.compile(seed_source(task))
        if not report.compile_ok:
            raise SystemExit(f"{task.name}: {bridge.diagnostics(report)[0]}")
        caps = {kernel.name: kernel.max_total_threads_per_threadgroup for kernel in report.kernels}
        program = bench.pocl.build(kernel_source(task.name)) if bench.pocl else None
        for configuration in configurations(task, bench.options.scale):
            rows.append(_row(bench, task, configuration, worker, library, caps, program))
    return rows


def _row(
    bench: Bench,
    task: Task,
    configuration: Configuration,
    worker: _core.Worker,
    library: int,
    caps: dict[str, int],
    program: Any,
) -> Row:
    inputs, expected = references.get(task, configuration)
    plan = task.plan(configuration, inputs, caps)
    execution = worker.prepare(library, bridge.plan(plan), threads=bench.options.cores)

    def ours(repeats: int) -> float:
        return float(worker.sample([execution], [0], repeats)[0][0]) / repeats

    worker.run(execution)
    require_right("kfp", task, configuration, inputs, bridge.read_outputs(worker, execution, plan), expected)
    single = min(ours(1) for _ in range(3))
    name = f"{task.name}, {configuration.label}"
    if bench.pocl is None:
        repeats = repeats_for(single)
        return speed(name, lambda: ours(repeats), None, bench.options.pairs)
    peer = bench.pocl.prepare(program, plan)
    peer.reset()
    peer.run()
    require_right("PoCL", task, configuration, inputs, peer.outputs(), expected)
    repeats = repeats_for(min(single, *(peer.sample(1) for _ in range(3))))
    return speed(name, lambda: ours(repeats), lambda: peer.sample(repeats) / repeats, bench.options.pairs)


def require_right(
    side: str, task: Task, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays
) -> None:
    with np.errstate(all="ignore"):
        check = task.check(configuration, inputs, outputs, expected)
    if not check.correct:
        raise SystemExit(f"{task.name}, {configuration.label}: wrong on {side}: {why(check)}")


def repeats_for(seconds: float) -> int:
    return max(1, math.ceil(SAMPLE_SECONDS / seconds))


def main() -> None:
    options = parser(__doc__, pairs=16)
    names = [task.name for task in all_tasks("sci")]
    options.add_argument("--task", action="append", choices=names, help="these tasks only")
    options.add_argument("--scale", choices=("small", "full"), help="one of the two configurations only")
    bench = open_bench(options.parse_args())
    rows, seeds = [], {}
    for task in all_tasks("sci"):
        if bench.options.task and task.name not in bench.options.task:
            continue
        measured = measure(bench, task)
        rows += measured
        if (interval := geometric_mean(measured)) is not None:
            seeds[task.name] = interval
    overall = over_configurations(list(seeds.values()))
    ratios = {name: interval.ratio for name, interval in seeds.items()}
    bench.report("PoCL's time over kfp's, above 1 kfp is faster", rows, overall, seeds=ratios)
    if not bench.options.json and seeds:
        slowest = min(seeds, key=lambda name: ratios[name])
        print(f"slowest seed against PoCL: {slowest} {bounds(seeds[slowest]).strip()}")


if __name__ == "__main__":
    main()
