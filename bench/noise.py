"""One kernel against itself, and against itself with a little more or less work: who calls what a win?

Our protocol beside the published one (3 warm-ups, median of 10, strict >) on kernels of about 5 µs, 100 µs, 2 ms and
20 ms, half of the comparisons while another process loads a core.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from common import device_option
from kfp import Limits, _core, bridge, machine
from kfp.comparing import Bench, compile_instruments
from kfp.plan import Dispatch, Plan, blank, linear
from kfp.timing.looks import SEARCH
from kfp.timing.measuring import Executions, Unmeasurable, measure_pair

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void chain(device float* out [[buffer(0)]], constant uint& steps [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
    float sum = float(i);
    for (uint k = 0; k < steps; ++k) sum = fma(sum, 0.999f, 0.5f);
    out[i] = sum;
}
"""
# Of kernels that last longer, and of one of microseconds: with more it has too few steps to leave 3 % of them out.
THREADS, FEW_THREADS = 512, 8
# Long enough for any clock; so many of them that the fastest was not disturbed.
SAMPLE_SECONDS = 2e-3
LINE_SAMPLES = 40
KERNELS = {"5 µs": 5e-6, "100 µs": 1e-4, "2 ms": 2e-3, "20 ms": 2e-2}
WARM_UPS, MEASURED = 3, 10


@dataclass(frozen=True)
class Answer:
    """Of one comparison: ours, and whether the published protocol would have promoted the candidate."""

    verdict: str
    ratio: float
    seconds: float
    promoted: bool


class Arms:
    """The kernel at a wanted duration, and the same with other amounts of work over the same buffer."""

    def __init__(self, worker: _core.Worker, library: int, seconds: float) -> None:
        self.worker = worker
        self.library = library
        self.threads = THREADS if seconds > 2e-5 else FEW_THREADS
        steps = 100
        while (took := self._seconds(self._prepare(steps))) < seconds / 2 and steps < 1 << 28:
            steps *= 2
        self.steps = max(1, round(steps * seconds / took))
        self.reference = self._prepare(self.steps)
        self._at_once = max(1, round(SAMPLE_SECONDS / seconds))
        self._fixed, self._per_step = self._line()

    def candidate(self, gain: float) -> int:
        """An execution that takes ``gain`` times less, or a little further off: steps are whole.

        The start of a kernel takes time as well, of one of 5 µs the most: a share less of the steps is not that share
        less of the time.
        """
        if gain == 1.0:
            return self._prepare(self.steps, shares=self.reference)
        seconds = self._fixed + self._per_step * self.steps
        steps = (seconds / gain - self._fixed) / self._per_step
        whole = math.floor(steps) if gain > 1 else math.ceil(steps)
        return self._prepare(max(1, whole), shares=self.reference)

    def _line(self) -> tuple[float, float]:
        """Seconds of a start, and of each step: from the fastest runs with all the steps and with half of them."""
        half = self.steps // 2
        executions = [self.reference, self._prepare(half, shares=self.reference)]
        samples, _ = self.worker.sample(executions, [0, 1] * LINE_SAMPLES, self._at_once)
        whole, less = (float(samples[arm::2].min()) / self._at_once for arm in (0, 1))
        per_step = (whole - less) / (self.steps - half)
        return whole - per_step * self.steps, per_step

    def _prepare(self, steps: int, shares: int | None = None) -> int:
        grid, threadgroup = linear(self.threads, min(self.threads, 256))
        dispatch = Dispatch("chain", {0: "out", 1: np.uint32(steps)}, grid, threadgroup)
        plan = Plan((blank("out", (self.threads,), np.float32),), (dispatch,), {})
        return self.worker.prepare(self.library, bridge.plan(plan), shares=shares)

    def _seconds(self, execution: int) -> float:
        return float(self.worker.sample([execution], [0] * 5, 1)[0].min())


def compare(arms: Arms, candidate: int, sentinel: int, seed: int) -> Answer:
    start = time.perf_counter()
    try:
        found = measure_pair(arms.worker, Executions(arms.reference, candidate, sentinel), SEARCH, seed)
        verdict, ratio = str(found.verdict), found.interval.ratio
    except Unmeasurable as refusal:
        verdict, ratio = refusal.verdict, math.nan
    seconds = time.perf_counter() - start
    medians = [
        float(np.median(arms.worker.sample([execution], [0] * (WARM_UPS + MEASURED), 1)[0][WARM_UPS:]))
        for execution in (arms.reference, candidate)
    ]
    return Answer(verdict, ratio, seconds, medians[1] < medians[0])


@contextmanager
def load(wanted: bool) -> Iterator[None]:
    """Another process that keeps a core busy."""
    if not wanted:
        yield
        return
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        other.kill()
        other.wait()


def share(count: int, total: int) -> tuple[float, float, float]:
    """(share, lower, upper): Wilson's interval at 95 %."""
    if total == 0:
        return math.nan, math.nan, math.nan
    z, p = 1.96, count / total
    centre, scale = p + z * z / (2 * total), 1 + z * z / total
    reach = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    return p, max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)


def figure(name: str, counted: int, total: int, target: float, at_most: bool = True) -> dict[str, Any]:
    """``ratio`` is the share over its target: at most 1 when that is reached, at least 1 where it is a lower bound."""
    found, lower, upper = share(counted, total)
    scale = target or 1.0
    return {
        "name": name,
        "count": counted,
        "total": total,
        "share": found,
        "target": target,
        "bound": "at most" if at_most else "at least",
        "ratio": found / scale,
        "lower": lower / scale,
        "upper": upper / scale,
    }


def run(options: argparse.Namespace) -> tuple[list[dict[str, Any]], list[str]]:
    answers: dict[tuple[str, bool, float], list[Answer]] = {}
    device = machine.resolve(options.device)
    with machine.open_worker(device, Limits()) as worker:
        instruments = compile_instruments(worker)
        library, _ = worker.compile(SOURCE)
        sentinel = Bench(worker, instruments).sentinel
        seed = options.seed
        for name, seconds in KERNELS.items():
            arms = Arms(worker, library, seconds)
            plans = {gain: arms.candidate(gain) for gain in (1.0, 1.03, 0.99)}
            for loaded in (False, True):
                with load(loaded):
                    for gain, candidate in plans.items():
                        each = options.comparisons if gain == 1.0 else options.planted
                        for _ in range(math.ceil(each / (2 * len(KERNELS)))):
                            seed += 1
                            answers.setdefault((name, loaded, gain), []).append(
                                compare(arms, candidate, sentinel, seed)
                            )
    return figures(answers), rows(answers)


def figures(answers: dict[tuple[str, bool, float], list[Answer]]) -> list[dict[str, Any]]:
    def of(gain: float, loaded: bool | None = None) -> list[Answer]:
        return [
            answer
            for (_, with_load, planted), some in answers.items()
            if planted == gain and loaded in (None, with_load)
            for answer in some
        ]

    same, gains, losses = of(1.0), of(1.03, False), of(0.99)
    false = sum(answer.verdict in ("win", "regression") for answer in same)
    return [
        figure("A/A called win or regression", false, len(same), 0.01),
        figure("A/A promoted by the published protocol", sum(a.promoted for a in same), len(same), 0.01),
        figure("3 % gain called win, quiet", sum(a.verdict == "win" for a in gains), len(gains), 0.9, at_most=False),
        figure("3 % gain promoted, published, quiet", sum(a.promoted for a in gains), len(gains), 0.9, at_most=False),
        figure("1 % loss called win", sum(a.verdict == "win" for a in losses), len(losses), 0.0),
        figure("1 % loss promoted, published", sum(a.promoted for a in losses), len(losses), 0.0),
    ]


def rows(answers: dict[tuple[str, bool, float], list[Answer]]) -> list[str]:
    """A line per kernel and load: what A/A gave, how far off, how long it took."""
    lines = ["A/A      load     n  false  no change  p95 off  s each  published"]
    for (name, loaded, gain), some in answers.items():
        if gain != 1.0:
            continue
        off = [abs(answer.ratio - 1) for answer in some if math.isfinite(answer.ratio)]
        false = sum(answer.verdict in ("win", "regression") for answer in some)
        steady = sum(answer.verdict == "no change" for answer in some)
        lines.append(
            f"{name:<8} {'yes' if loaded else 'no':<5} {len(some):>4} {false:>6} {steady:>10} "
            f"{100 * float(np.quantile(off, 0.95)) if off else math.nan:>7.2f}% "
            f"{float(np.median([answer.seconds for answer in some])):>7.2f} "
            f"{sum(answer.promoted for answer in some):>10}"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--comparisons", type=int, default=400, help="A/A comparisons in all (default 400)")
    parser.add_argument("--planted", type=int, default=160, help="comparisons per planted difference (default 160)")
    device_option(parser)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found, lines = run(options)
    if options.json:
        print(json.dumps({"figures": found}, indent=2))
        return
    print("\n".join(lines))
    print()
    for one in found:
        print(
            f"{one['name']:<40} {one['count']:>4} of {one['total']:<4} {100 * one['share']:>6.1f}% "
            f"({one['bound']} {100 * one['target']:.0f}%)"
        )


if __name__ == "__main__":
    main()
