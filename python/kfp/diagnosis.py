"""What about this machine makes timings worse, and how far a kernel's time differs from itself here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kfp import _core, bridge, conditions, machine
from kfp.comparing import Bench, compile_instruments
from kfp.conditions import Finding
from kfp.limits import Limits
from kfp.plan import Dispatch, Plan, blank, linear
from kfp.records import Record
from kfp.results import Device
from kfp.timing.looks import Policy
from kfp.timing.measuring import Executions, Unmeasurable, measure_pair

# Short comparisons of a kernel with itself, of which the worst but one in twenty is the floor.
COMPARISONS = 12
QUICK = Policy(seconds=0.15, long_seconds=0.5, most_pairs=32, warm_up_seconds=0.5)
THREADS = 16384


@dataclass(frozen=True, eq=False)
class Diagnosis(Record):
    """``floor`` is the A/A floor: 95 % of ``ratios``, of a kernel's time to itself, are less than this off 1."""

    device: Device
    findings: tuple[Finding, ...]
    ratios: tuple[float, ...]
    floor: float | None
    reason: str

    @property
    def healthy(self) -> bool:
        return self.floor is not None and not any(finding.state == "bad" for finding in self.findings)

    def __str__(self) -> str:
        from kfp.tables import plain
        from kfp.timing.tables import diagnosis_lines

        return plain(diagnosis_lines(self))


def doctor(device: str = "auto", *, root: Path = Path("/")) -> Diagnosis:
    """Looks at the machine (``root`` is where its /proc and /sys are) and compares a small kernel with itself.

    Takes some seconds. Raises ``kfp.Error`` where the device is missing.
    """
    target = machine.resolve(device)
    findings = tuple(conditions.of_device(target)) + tuple(conditions.of_machine(root, sys.platform))
    try:
        ratios = tuple(_same_kernel_ratios(target))
    except Unmeasurable as refusal:
        return Diagnosis(target, findings, (), None, refusal.reason)
    except _core.Error as error:
        return Diagnosis(target, findings, (), None, str(error))
    floor = float(np.quantile([abs(ratio - 1) for ratio in ratios], 0.95))
    return Diagnosis(target, findings, ratios, floor, "")


def _same_kernel_ratios(device: Device) -> Iterator[float]:
    with machine.open_worker(device, Limits()) as worker:
        instruments = compile_instruments(worker)
        bench = Bench(worker, instruments)
        grid, threadgroup = linear(THREADS, 64)
        sums = blank("sums", (THREADS,), np.float32)
        plan = bridge.plan(Plan((sums,), (Dispatch("sentinel", {0: "sums"}, grid, threadgroup),), {}))
        one = worker.prepare(instruments.library, plan)
        two = worker.prepare(instruments.library, plan, shares=one)
        for seed in range(COMPARISONS):
            yield measure_pair(worker, Executions(one, two, bench.sentinel), QUICK, seed).interval.ratio
