"""CPU time and peak memory of every reference, each configuration in a process of its own.

    python bench/references.py [--suite zk] [--scale full] [--task NAME] [--draws N] [--json]

The last column is the share of the limits that the slowest and the largest may take: 1 GB, and 20 s for a task of suite
sci or one over curves, 5 s for another one of suite zk. With ``--draws``: the slowest of N draws of a gate, each of
which may take 5 s.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

from kfp.gating.draws import FEWEST_TIMED, Drawn, draw_all
from kfp.gating.variations import varied
from kfp.tasks import all_tasks, get_task

SECONDS, BYTES = {"sci": 20.0, "zk": 5.0}, 1e9
DRAW_SECONDS = 5.0
CURVES = ("montgomery_msm", "pippenger_buckets")


def measure(name: str, index: int, scale: Any) -> dict[str, Any]:
    """Inputs, reference and a check of the reference's own size; in this process, so call it in a fresh one."""
    task = get_task(name)
    configuration = [*task.configurations(scale), task.published_held_out(scale)][index]
    start = time.process_time()
    inputs = task.inputs(configuration)
    made = time.process_time()
    expected = task.reference(configuration, inputs)
    done = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "task": name,
        "configuration": configuration.label,
        "origin": configuration.origin,
        "inputs_seconds": made - start,
        "reference_seconds": done - made,
        "bytes_kept": sum(array.nbytes for arrays in (inputs, expected) for array in arrays.values()),
        "peak_bytes": peak,
    }


def measure_draws(name: str, scale: Any, count: int) -> dict[str, Any]:
    """The references of ``count`` untimed draws and of all timed ones, data laws included, one by one."""
    plain = get_task(name)
    draws = draw_all(plain, scale, 0, "bench/references.py", FEWEST_TIMED, count)
    every: list[Drawn] = [*draws.timed, *draws.untimed]
    task = varied(plain, {drawn.configuration: drawn.variation for drawn in every})
    slowest, total = ("", 0.0), 0.0
    for drawn in every:
        inputs = task.inputs(drawn.configuration)
        start = time.process_time()
        task.reference(drawn.configuration, inputs)
        seconds = time.process_time() - start
        total += seconds
        slowest = max(slowest, (drawn.configuration.label, seconds), key=lambda pair: pair[1])
    return {"task": name, "draws": len(every), "slowest": slowest[0], "seconds": slowest[1], "mean": total / len(every)}


def report_draws(names: list[str], scale: Any, count: int, as_json: bool) -> None:
    rows = []
    if not as_json:
        print(f"{'task':<26} {'draws':>6} {'mean s':>8} {'slowest s':>9} {'of limit':>9}  slowest")
    for name in names:
        row = measure_draws(name, scale, count)
        rows.append(row)
        if not as_json:
            print(
                f"{name:<26} {row['draws']:>6} {row['mean']:>8.4f} {row['seconds']:>9.3f} "
                f"{row['seconds'] / DRAW_SECONDS:>9.0%}  {row['slowest']}",
                flush=True,
            )
    if as_json:
        print(json.dumps(rows, indent=2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=tuple(SECONDS), help="one suite only")
    parser.add_argument("--scale", choices=("small", "full"), default="full")
    parser.add_argument("--task")
    parser.add_argument("--draws", type=int, help="this many draws of a gate of each task instead")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measure(options.task, options.one, options.scale)))
        return
    if options.draws is not None:
        names = [task.name for task in all_tasks(options.suite) if options.task in (None, task.name)]
        report_draws(names, options.scale, options.draws, options.json)
        return
    rows = []
    if not options.json:
        header = ("task", "configuration", "inputs s", "reference s", "kept MB", "peak MB", "of limit")
        print("{:<26} {:<44} {:>9} {:>12} {:>9} {:>9} {:>9}".format(*header))
    for task in all_tasks(options.suite):
        if options.task not in (None, task.name):
            continue
        for index in range(len(task.configurations(options.scale)) + 1):
            command = [sys.executable, __file__, "--task", task.name, "--scale", options.scale, "--one", str(index)]
            row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            rows.append(row)
            if not options.json:
                seconds = SECONDS["sci" if task.name in CURVES else task.suite]
                share = max(row["reference_seconds"] / seconds, row["peak_bytes"] / BYTES)
                print(
                    f"{row['task']:<26} {row['configuration']:<44} {row['inputs_seconds']:>9.2f} "
                    f"{row['reference_seconds']:>12.2f} {row['bytes_kept'] / 1e6:>9.0f} "
                    f"{row['peak_bytes'] / 1e6:>9.0f} {share:>9.0%}",
                    flush=True,
                )
    if options.json:
        print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
