"""What a device gives at most: measured by small probe kernels, kept per device and driver; Apple's figures else."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kfp import _core, bridge, integer_ceilings, machine, toolchain
from kfp.errors import Error, ResultFormatError
from kfp.limits import Limits
from kfp.plan import Dispatch, Plan, blank, given, linear
from kfp.results import Ceiling, Ceilings, Device

MEASURED = "measured on this device"

# A format or probe that changed must not be read from an old cache.
CACHE_VERSION = 2

COPY_BYTES = 128 << 20
PROBE_SAMPLES = 7


@dataclass(frozen=True)
class _Chip:
    """The most GPU cores that the chip ships with, their clock, and the DRAM bandwidth."""

    cores: int
    gigahertz: float
    dram: float


# The figures of Apple's data sheets; FP32 peak = cores x 256 FLOP x clock.
APPLE = {
    "M1": _Chip(8, 1.278, 68.3),
    "M1 Pro": _Chip(16, 1.296, 204.8),
    "M1 Max": _Chip(32, 1.296, 409.6),
    "M1 Ultra": _Chip(64, 1.296, 819.2),
    "M2": _Chip(10, 1.398, 102.4),
    "M2 Pro": _Chip(19, 1.398, 204.8),
    "M2 Max": _Chip(38, 1.398, 409.6),
    "M2 Ultra": _Chip(76, 1.398, 819.2),
    "M3": _Chip(10, 1.38, 102.4),
    "M3 Pro": _Chip(18, 1.38, 153.6),
    "M3 Max": _Chip(40, 1.38, 409.6),
    "M4": _Chip(10, 1.47, 120.0),
    "M4 Pro": _Chip(20, 1.578, 273.0),
    "M4 Max": _Chip(40, 1.578, 546.0),
}


def ceilings(device: Device, on_measuring: Callable[[], None] = lambda: None) -> Ceilings:
    """From the cache, else measured (some seconds, after ``on_measuring``), else from the table of Apple's chips."""
    cached = _read_cache(device)
    if cached is not None:
        return cached
    on_measuring()
    try:
        found = measure_ceilings(device)
    except (Error, _core.Error) as error:
        return apple_ceilings(device, f"the probes failed: {error}")
    # What a disturbed probe could not tell may be found next time.
    if not found.invalid:
        _write_cache(device, found)
    return found


def apple_ceilings(device: Device, why: str) -> Ceilings:
    """The table's figures if the device is a chip that it lists; no ceilings otherwise.

    Those of 64-bit integers are estimates: a lane issues one 32-bit operation a clock, an operation on 64 bits is two
    of them, a rotation four, a product of 128 bits sixteen.
    """
    match = re.search(r"Apple (M\d+(?: (?:Pro|Max|Ultra))?)", device.description)
    chip = APPLE.get(match.group(1)) if match else None
    limits: tuple[Ceiling, ...] = ()
    if match and chip:
        source = f"Apple's figures for {match.group(1)}, {chip.cores} GPU cores assumed; {why}"
        limits = (
            Ceiling("fp32", chip.cores * 256 * chip.gigahertz * 1e9, source),
            Ceiling("dram", chip.dram * 1e9, source),
        )
        issued = chip.cores * 128 * chip.gigahertz * 1e9
        estimate = f"an estimate from the 32-bit rate; {source}"
        limits += (
            Ceiling("u64_multiply", issued / 16, estimate),
            Ceiling("u64_bit", issued / 2, estimate),
            Ceiling("u64_rotate", issued / 4, estimate),
        )
    return Ceilings(device.name, device.description, device.driver, limits, 0.0, ())


def measure_ceilings(device: Device) -> Ceilings:
    with machine.open_worker(device, Limits()) as worker:
        fp32 = _Probe(worker, "fp32.metal")
        dram = _Probe(worker, "dram.metal")
        dispatch = _Probe(worker, "dispatch.metal")
        u64 = _Probe(worker, "u64.metal")
        integer = integer_ceilings.rates(u64.best_seconds_in_turn)
        limits = (
            Ceiling("fp32", _fp32_per_second(fp32), MEASURED),
            Ceiling("dram", _bytes_per_second(dram), MEASURED),
            *(Ceiling(rate.resource, rate.per_second, MEASURED) for rate in integer if not rate.problem),
        )
        invalid = tuple(rate.problem for rate in integer if rate.problem)
        return Ceilings(device.name, device.description, device.driver, limits, _dispatch_seconds(dispatch), invalid)


class _Probe:
    """A compiled probe. All are compiled before the first one runs, which seals the worker."""

    def __init__(self, worker: _core.Worker, file: str) -> None:
        source = (toolchain.shaders() / "probes" / file).read_text(encoding="utf-8")
        self._worker = worker
        self._library, report = worker.compile(source)
        if not report.compile_ok:
            raise Error(f"probe {file}: {bridge.diagnostics(report)[0]}")

    def best_seconds(self, plan: Plan, samples: int = PROBE_SAMPLES) -> float:
        """The shortest of some runs: a ceiling is what the device can do, not what it does on average."""
        execution = self._worker.prepare(self._library, bridge.plan(plan))
        self._worker.run(execution)
        totals, _ = self._worker.sample([execution], [0] * samples, 1)
        return float(totals.min())

    def best_seconds_in_turn(self, plans: Sequence[Plan]) -> list[float]:
        """The shortest of twice as many runs of every plan, one after the other so that all meet the same machine."""
        executions = [self._worker.prepare(self._library, bridge.plan(plan)) for plan in plans]
        for execution in executions:
            self._worker.run(execution)
        totals, _ = self._worker.sample(executions, list(range(len(plans))) * (2 * PROBE_SAMPLES), 1)
        return [float(totals[first :: len(plans)].min()) for first in range(len(plans))]


# As in fp32.metal.
FMAS_PER_THREAD = 512


def _fp32_per_second(probe: _Probe) -> float:
    """More threads until a run lasts long enough to be sure of its length."""
    threads = 1 << 16
    while True:
        grid, threadgroup = linear(threads, 256)
        start = np.linspace(0.0, 1.0, threads, dtype=np.float32)
        plan = Plan(
            (given("start", start), blank("sums", (threads,), np.float32)),
            (Dispatch("fma_chains", {0: "start", 1: "sums", 2: np.float32(0.999)}, grid, threadgroup),),
            {"sums": "sums"},
        )
        seconds = probe.best_seconds(plan)
        if seconds >= 4e-3 or threads >= 1 << 24:
            return 2.0 * FMAS_PER_THREAD * threads / seconds
        threads *= 4


def _bytes_per_second(probe: _Probe) -> float:
    """The better of a copy, and of an update that reads what it writes (on a CPU a plain store reads its line too)."""
    n = COPY_BYTES // 4
    grid, threadgroup = linear(n, 256)
    source = np.zeros(n, dtype=np.float32)
    buffers = (given("source", source), given("target", source, "state"))
    copy = Plan(buffers, (Dispatch("stream_copy", {0: "source", 1: "target"}, grid, threadgroup),), {})
    update = Plan(buffers, (Dispatch("stream_update", {0: "source", 1: "target"}, grid, threadgroup),), {})
    return max(2.0 * COPY_BYTES / probe.best_seconds(copy), 3.0 * COPY_BYTES / probe.best_seconds(update))


def _dispatch_seconds(probe: _Probe) -> float:
    dispatches = 500
    buffers = (given("counter", np.zeros(1, dtype=np.uint32), "state"),)
    one = Dispatch("count_dispatch", {0: "counter"}, (1, 1, 1), (1, 1, 1))
    return probe.best_seconds(Plan(buffers, (one,) * dispatches, {})) / dispatches


def _cache_file(device: Device) -> Path:
    key = "\n".join((str(CACHE_VERSION), _core.__version__, device.name, device.description, device.driver))
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return toolchain.cache_folder() / "ceilings" / f"{device.name}-{digest}.json"


def _read_cache(device: Device) -> Ceilings | None:
    """Anything unreadable is measured anew."""
    try:
        found = Ceilings.from_json(json.loads(_cache_file(device).read_text(encoding="utf-8")))
    except (OSError, ValueError, ResultFormatError):
        return None
    same = (found.device, found.description, found.driver) == (device.name, device.description, device.driver)
    return found if same and all(0 < limit.per_second < float("inf") for limit in found.limits) else None


def _write_cache(device: Device, found: Ceilings) -> None:
    """Whole or not at all. A cache that can't be written costs the next process its time, nothing else."""
    path = _cache_file(device)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(found.to_json(), file, indent=1)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
    except OSError:
        return
