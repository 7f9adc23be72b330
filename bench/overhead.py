"""From a running worker, with a compiled kernel, to the end of the first dispatch: pipelines, buffers, sealing, run."""

from __future__ import annotations

import time

from common import arguments, figure, report
from kfp import Limits, bridge, machine
from kfp.sources import seed_source
from kfp.tasks import get_task

FIRST_DISPATCH_TARGET_MS = 30.0


def first_dispatch_samples(device: str, count: int) -> list[float]:
    """A worker is sealed by its first run, so each sample takes a new one."""
    task = get_task("saxpy")
    configuration = task.configurations("small")[0]
    inputs = task.inputs(configuration)
    target = machine.resolve(device)
    times = []
    for _ in range(count):
        with machine.open_worker(target, Limits()) as worker:
            library, report_ = worker.compile(seed_source(task))
            caps = {kernel.name: kernel.max_total_threads_per_threadgroup for kernel in report_.kernels}
            plan = task.plan(configuration, inputs, caps)
            start = time.perf_counter()
            worker.run(worker.prepare(library, bridge.plan(plan)))
            times.append(1e3 * (time.perf_counter() - start))
    return times


def main() -> None:
    options = arguments(__doc__)
    times = first_dispatch_samples(options.device, options.samples)
    report([figure("first dispatch", times, FIRST_DISPATCH_TARGET_MS)], options.json)


if __name__ == "__main__":
    main()
