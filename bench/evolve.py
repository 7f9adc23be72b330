"""What a search costs beside the model and the kernels: milliseconds an iteration, memory, and whether either grows.

A thousand recorded answers are replayed: prose, kernels that had been tried, kernels that don't compile, right ones.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from kfp import Run, evolve
from kfp.runs.files import write_json
from kfp.runs.folder import reply_path
from kfp.search.events import SearchProgress
from kfp.search.models.base import Reply, Usage
from kfp.sources import seed_source
from kfp.tasks import get_task

TARGET_MS, TARGET_MB = 100.0, 50.0


def answer(iteration: int, seed: str) -> str:
    kind = iteration % 10
    if kind == 0:
        return f"```metal\n{seed.replace('if (i >= N)', f'if (i >= N{iteration})')}```\n"
    if kind == 5 and iteration < 50:
        return f"```metal\n// number {iteration}\n{seed}```\n"
    if kind % 2:
        return f"```metal\n{seed}```\n"
    return f"Let me think about it for the {iteration}th time. " * 200


def record(folder: Path, iterations: int) -> None:
    """The answers of a run as a replay finds them."""
    seed = seed_source(get_task("saxpy"))
    for iteration in range(1, iterations + 1):
        path = reply_path(folder, iteration, 1)
        path.parent.mkdir(parents=True)
        usage = Usage(input=9000, output=2000)
        reply = Reply("recorded", answer(iteration, seed), "", "end", "", usage, 0.0, 1, 0, "")
        write_json(path, reply.to_json())


def resident_mb() -> float:
    """Now, where the system tells; else the most that it has been."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (2**20 if sys.platform == "darwin" else 2**10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--iterations", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source, out = Path(scratch) / "recorded", Path(scratch) / "run"
        os.environ["KFP_RUNS_DIR"] = scratch
        record(source, options.iterations)
        memory: list[float] = []
        moments = [time.monotonic()]

        def note(progress: SearchProgress) -> None:
            if progress.finished is not None:
                memory.append(resident_mb())
                moments.append(time.monotonic())

        evolve(
            "saxpy", model=f"replay/{source}", iterations=options.iterations, scale="small", out=out, progress=note
        )  # fmt: skip
        seconds = time.monotonic() - moments[0]
        # Where no kernel was run and no model waited for, all the time is the harness's.
        harness = [
            1e3 * (after - before)
            for before, after, entry in zip(moments, moments[1:], Run(out).iterations, strict=False)
            if entry.candidates[0].evaluation is None
        ]
    fifth = len(harness) // 5
    early, late = statistics.median(harness[:fifth]), statistics.median(harness[-fifth:])
    figures = {
        "iterations": len(memory),
        "seconds": seconds,
        "harness_ms": {"median": statistics.median(harness), "p99": sorted(harness)[int(0.99 * len(harness))]},
        # From the tenth iteration on: the first ones load what every run needs.
        "memory_growth_mb": memory[-1] - memory[min(9, len(memory) - 1)],
        "late_over_early": late / early,
        "ratio": statistics.median(harness) / TARGET_MS,
        "memory_ratio": (memory[-1] - memory[min(9, len(memory) - 1)]) / TARGET_MB,
    }
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print(f"{figures['iterations']} replayed iterations in {seconds:.0f} s")
    print(f"harness      {statistics.median(harness):.1f} ms an iteration (target {TARGET_MS:.0f} ms)")
    print(f"memory       {figures['memory_growth_mb']:+.1f} MB (target below {TARGET_MB:.0f} MB)")
    print(f"last fifth   {late / early:.2f} times the first fifth's time an iteration")


if __name__ == "__main__":
    main()
