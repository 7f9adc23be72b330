"""One sample of compile.py's first results, in a process of its own that has compiled nothing before; prints seconds.

    python bench/first_result.py kfp saxpy

The other side is called pocl.
"""

from __future__ import annotations

import subprocess
import sys
import time

from kfp import Limits, bridge, machine
from kfp.running import references
from kfp.sources import seed_source
from kfp.tasks import all_tasks, get_task
from kfp.tasks.base import Task
from peers import narrowed, parser
from pocl import Missing, Pocl, kernel_source, never_seen
from throughput import require_right

SIDES = ("kfp", "pocl")


def on_kfp(task: Task, device: str, cores: int) -> float:
    """Seconds; a worker is there before."""
    configuration = task.configurations("small")[0]
    inputs, expected = references.get(task, configuration)
    source = never_seen(seed_source(task))
    with machine.open_worker(machine.resolve(device), Limits()) as worker:
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


def on_pocl(task: Task, pocl: Pocl) -> float:
    """Seconds; context and queue are there before."""
    configuration = task.configurations("small")[0]
    inputs, expected = references.get(task, configuration)
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


def in_fresh_process(side: str, task: Task, device: str, cores: int) -> float:
    command = [sys.executable, __file__, side, task.name, "--device", device, "--cores", str(cores)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{task.name} on {side}: {done.stderr.strip()}")
    return float(done.stdout)


def main() -> None:
    options = parser(__doc__, pairs=1)
    options.add_argument("side", choices=SIDES)
    options.add_argument("task", choices=[task.name for task in all_tasks("sci")])
    chosen = options.parse_args()
    narrowed(chosen.cores)
    task = get_task(chosen.task)
    if chosen.side == "kfp":
        seconds = on_kfp(task, chosen.device, chosen.cores)
    else:
        try:
            seconds = on_pocl(task, Pocl(chosen.cores))
        except Missing as missing:
            raise SystemExit(str(missing)) from None
    print(seconds)


if __name__ == "__main__":
    main()
