"""What it costs to start work: empty dispatches on kfp's device and on PoCL's, on their clocks and from Python.

    python bench/overhead.py [--json]

The overall ratio is that of an empty dispatch in a plan of 200: device time from the first dispatch's start to the last
one's end, over 200, with everything queued before. The rows "from Python" are wall time of one call until its result
is known, kfp's worker being another process; ten calls a sample. Two figures are kfp's own: what Python and the
binding add to one crossing to the worker (to stay below 5 µs), and from a compiled kernel to the end of its first
dispatch.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import numpy as np
from common import figure, report
from kfp import Limits, _core, bridge, machine
from kfp.plan import Dispatch, Plan
from kfp.results import Device
from kfp.sources import seed_source
from kfp.tasks import get_task
from kfp.timing.statistics import Floats
from peers import Row, Sample, alone, cost, open_bench, parser
from pocl import Execution

DISPATCHES = 200
CALLS = 10
# Runs of the plan in a sample on the device's clock.
REPEATS = 10
FIRST_DISPATCH_TARGET_MS = 30.0

OURS = "kernel void nothing() {}"
THEIRS = "kernel void nothing(void) {}"


def empty_plan(dispatches: int) -> Plan:
    return Plan((), (Dispatch("nothing", {}, (1, 1, 1), (1, 1, 1)),) * dispatches, {})


def on_the_clock(worker: _core.Worker, execution: int) -> Sample:
    return lambda: float(worker.sample([execution], [0], REPEATS)[0][0]) / (REPEATS * DISPATCHES)


def on_their_clock(peer: Execution | None) -> Sample | None:
    return (lambda: peer.sample(REPEATS) / (REPEATS * DISPATCHES)) if peer else None


def from_python(call: Callable[[], object]) -> Sample:
    """Seconds of one of ``CALLS`` calls."""

    def sample() -> float:
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        return (time.perf_counter() - start) / CALLS

    return sample


def crossing_samples(worker: _core.Worker, execution: int, count: int) -> Floats:
    """Seconds that a call to sample takes beyond what passes between its request and the worker's reply."""

    def beyond() -> float:
        start = time.perf_counter()
        _, report_ = worker.sample([execution], [0], 1)
        return time.perf_counter() - start - report_.wall_seconds

    return np.array([beyond() for _ in range(count)])


def first_dispatch_samples(device: Device, count: int) -> list[float]:
    """Milliseconds. A worker is sealed by its first run, so each sample takes a new one."""
    task = get_task("saxpy")
    configuration = task.configurations("small")[0]
    inputs = task.inputs(configuration)
    times = []
    for _ in range(count):
        with machine.open_worker(device, Limits()) as worker:
            library, report_ = worker.compile(seed_source(task))
            caps = {kernel.name: kernel.max_total_threads_per_threadgroup for kernel in report_.kernels}
            plan = task.plan(configuration, inputs, caps)
            start = time.perf_counter()
            worker.run(worker.prepare(library, bridge.plan(plan)))
            times.append(1e3 * (time.perf_counter() - start))
    return times


def main() -> None:
    bench = open_bench(parser(__doc__, pairs=40).parse_args())
    device, pairs, cores = machine.resolve(bench.options.device), bench.options.pairs, bench.options.cores
    program = bench.pocl.build(THEIRS) if bench.pocl else None
    rows: list[Row] = []
    with machine.open_worker(device, Limits()) as worker:
        library, _ = worker.compile(OURS)
        for number, name in ((DISPATCHES, f"plan of {DISPATCHES}"), (1, "empty dispatch")):
            plan = empty_plan(number)
            execution = worker.prepare(library, bridge.plan(plan), threads=cores)
            peer = bench.pocl.prepare(program, plan) if bench.pocl else None
            if number == DISPATCHES:
                within = f"empty dispatch, in a {name}"
                rows.append(cost(within, on_the_clock(worker, execution), on_their_clock(peer), pairs))
            ours = from_python(functools.partial(worker.run, execution))
            rows.append(cost(f"{name}, from Python", ours, from_python(peer.run) if peer else None, pairs))
        rows.append(alone("crossing, Python's part", crossing_samples(worker, execution, 25 * pairs)))
    own = [figure("first dispatch", first_dispatch_samples(device, min(pairs, 15)), FIRST_DISPATCH_TARGET_MS)]
    bench.report("kfp's cost over PoCL's, below 1 kfp is cheaper", rows, rows[0].interval, figures=own)
    if not bench.options.json:
        print()
        report(own, as_json=False)


if __name__ == "__main__":
    main()
