"""Peak memory of kfp's processes over the tasks, against one process that runs the same plan on PoCL.

    python bench/memory.py [--task NAME] [--suite sci] [--json]

Every sample is a run in fresh processes: compile a text of its own, run the plan of one configuration, read its
outputs. Suite sci has the larger configurations of throughput.py, suite zk the first of its full ones, on kfp alone. A
process's peak is that of its resident set, pages that it shares included; those of kfp's three processes (parent,
worker, the compiler that a worker starts) are added up though they don't peak at once, so their sum is too high rather
than too low. The reference isn't computed: references.py says what that takes. Linux only.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from kfp import Limits, bridge, machine
from kfp.sources import seed_source
from kfp.tasks import SUITES, all_tasks, get_task
from kfp.tasks.base import Configuration, Task
from peers import Bench, Row, bounds, cost_of, geometric_mean, open_bench, parser
from pocl import Pocl, kernel_source, never_seen
from throughput import configurations

KFP = ("parent", "worker", "compiler")


def configuration_of(task: Task) -> Configuration:
    return configurations(task, None)[-1] if task.suite == "sci" else task.configurations("full")[0]


def high_water(pid: int | str) -> int:
    """Bytes."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise SystemExit(f"/proc/{pid}/status has no VmHWM")


def run_on_kfp(task: Task, device: str, cores: int) -> tuple[int, ...]:
    """Peak bytes: of this process, of a worker that runs, of one that compiles or its compiler, whichever is larger."""
    configuration = configuration_of(task)
    target = machine.resolve(device)
    with machine.open_worker(target, Limits()) as worker:
        worker.compile(never_seen(seed_source(task)))
    # Of children only the largest that has ended is known.
    compiler = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with machine.open_worker(target, Limits(run_seconds=600)) as worker:
        library, report = worker.compile(seed_source(task))
        caps = {kernel.name: kernel.max_total_threads_per_threadgroup for kernel in report.kernels}
        plan = task.plan(configuration, task.inputs(configuration), caps)
        execution = worker.prepare(library, bridge.plan(plan), threads=cores)
        worker.run(execution)
        bridge.read_outputs(worker, execution, plan)
        peak = high_water(worker.pid)
    return high_water("self"), peak, compiler


def run_on_pocl(task: Task, cores: int) -> tuple[int, ...]:
    """Peak bytes of this process."""
    configuration = configuration_of(task)
    pocl = Pocl(cores)
    plan = task.plan(configuration, task.inputs(configuration), {kernel.name: 1024 for kernel in task.kernels})
    execution = pocl.prepare(pocl.build(kernel_source(task.name)), plan)
    execution.reset()
    execution.run()
    execution.outputs()
    return (high_water("self"),)


def in_fresh_processes(side: str, task: Task, options: argparse.Namespace) -> list[int]:
    command = [sys.executable, __file__, "--side", side, "--task", task.name]
    command += ["--device", options.device, "--cores", str(options.cores)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{task.name} on {side}: {done.stderr.strip()}")
    return [int(peak) for peak in json.loads(done.stdout)]


def measure(bench: Bench, task: Task) -> tuple[Row, list[float]]:
    """The comparison in bytes, and medians of kfp's processes."""
    ours, theirs = [], []
    for _ in range(bench.options.pairs):
        ours.append(in_fresh_processes("kfp", task, bench.options))
        if bench.pocl and task.suite == "sci":
            theirs.append(sum(in_fresh_processes("pocl", task, bench.options)))
    name = f"{task.name}, {configuration_of(task).label}"
    row = cost_of(name, np.array([float(sum(peaks)) for peaks in ours]), np.array([float(peak) for peak in theirs]))
    return row, [float(np.median(peaks)) for peaks in zip(*ours, strict=True)]


def line(row: Row, parts: Sequence[float]) -> str:
    columns = [*parts, *([float(np.median(row.peer))] if len(row.peer) else [])]
    megabytes = " ".join(f"{column / 1e6:>8.0f}" for column in columns)
    return f"{row.name[:20]:<20} {megabytes:<35} {bounds(row.interval) if row.interval else ''}".rstrip()


def main() -> None:
    options = parser(__doc__, pairs=3)
    names = [task.name for task in all_tasks()]
    options.add_argument("--task", action="append", choices=names, help="these tasks only")
    options.add_argument("--suite", choices=tuple(SUITES), help="one suite only")
    options.add_argument("--side", choices=("kfp", "pocl"), help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if not sys.platform.startswith("linux"):
        raise SystemExit("memory.py reads the processes' peaks from /proc: Linux only")
    if chosen.side is not None:
        task = get_task(chosen.task[0])
        peaks = (
            run_on_kfp(task, chosen.device, chosen.cores) if chosen.side == "kfp" else run_on_pocl(task, chosen.cores)
        )
        print(json.dumps(peaks))
        return
    bench = open_bench(chosen)
    rows, parts = [], {}
    if not chosen.json:
        print(f"{'peak MB':<20} " + " ".join(f"{name:>8}" for name in (*KFP, "PoCL")) + "  ratio  95 % interval")
    for task in all_tasks(chosen.suite):
        if chosen.task and task.name not in chosen.task:
            continue
        row, medians = measure(bench, task)
        rows.append(row)
        parts[task.name] = dict(zip(KFP, medians, strict=True))
        if not chosen.json:
            print(line(row, medians), flush=True)
    bench.conclude(
        "kfp's processes over PoCL's one, below 1 kfp needs less", rows, geometric_mean(rows), width=56, bytes=parts
    )


if __name__ == "__main__":
    main()
